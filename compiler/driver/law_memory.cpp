#include "compiler/driver/law_memory.h"

#ifdef TAP_HAVE_BACKEND
#include "backend/build_id.h"
#include "backend/digest.h"
#include "backend/kernel_cache.h"
#endif

namespace tap::driver {

#ifdef TAP_HAVE_BACKEND
namespace {

class LawFolder : public LawStore {
 public:
  LawFolder()
      : build_(backend::build_id()),
        cache_({.folder = build_.empty() ? "" : backend::default_cache_folder("laws"),
                .most_bytes = 16u << 20,
                .words = {.entry = "law", .made = "proved", .holds = "proofs"}}) {}

  std::optional<std::string> find(const std::string& key) override {
    auto entry = cache_.find(digest(key));
    if (!entry || !entry->starts_with(key)) return std::nullopt;
    return entry->substr(key.size());
  }
  void store(const std::string& key, const std::string& text) override { cache_.store(digest(key), key + text); }
  std::vector<Diagnostic> take_warnings() { return cache_.take_warnings(); }

 private:
  backend::Digest digest(const std::string& key) const { return backend::digest_of({"laws", build_, key}); }

  std::string build_;
  backend::KernelCache cache_;
};

LawFolder* used_folder = nullptr;  // it is made when it is first asked
LawFolder& law_folder() {
  static LawFolder folder;
  used_folder = &folder;
  return folder;
}

}  // namespace

LawMemory& law_memory() {
  static LawMemory memory(&law_folder());
  return memory;
}
void tell_law_warnings(const Session& session) {
  if (!used_folder) return;
  for (const Diagnostic& warning : used_folder->take_warnings()) session.tell(warning);
}
#else
LawMemory& law_memory() { return transient_law_memory(); }
void tell_law_warnings(const Session&) {}
#endif

LawMemory& transient_law_memory() {
  static LawMemory memory;
  return memory;
}

}  // namespace tap::driver
