#include "compiler/driver/law_memory.h"

#include <filesystem>
#include <optional>

#include "backend/llvm/build_id.h"
#include "backend/llvm/digest.h"
#include "backend/llvm/kernel_cache.h"

namespace tap::driver {

namespace {

// The folder is made when the first verdict is stored: a command that proves nothing leaves no trace.
class LawFolder : public LawStore {
 public:
  LawFolder() : build_(backend::build_id()), folder_(build_.empty() ? "" : backend::default_cache_folder("laws")) {}

  std::optional<std::string> find(const std::string& key) override {
    std::error_code ignored;
    if (!cache_ && !std::filesystem::exists(folder_, ignored)) return std::nullopt;
    auto entry = cache().find(digest(key));
    if (!entry || !entry->starts_with(key)) return std::nullopt;
    return entry->substr(key.size());
  }
  void store(const std::string& key, const std::string& text) override { cache().store(digest(key), key + text); }
  std::vector<Diagnostic> take_warnings() { return cache_ ? cache_->take_warnings() : std::vector<Diagnostic>(); }

 private:
  backend::KernelCache& cache() {
    if (!cache_)
      cache_.emplace(backend::CacheOptions{
          .folder = folder_, .most_bytes = 16u << 20, .words = {.entry = "law", .made = "proved", .holds = "proofs"}});
    return *cache_;
  }
  backend::Digest digest(const std::string& key) const { return backend::digest_of({"laws", build_, key}); }

  std::string build_, folder_;
  std::optional<backend::KernelCache> cache_;
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
void show_law_warnings(const Session& session) {
  if (!used_folder) return;
  for (const Diagnostic& warning : used_folder->take_warnings()) session.tell(warning);
}

LawMemory& transient_law_memory() {
  static LawMemory memory;
  return memory;
}

}  // namespace tap::driver
