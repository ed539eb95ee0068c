#include "compiler/driver/stored_texts.h"

#include <filesystem>

#include "backend/llvm/build_id.h"
#include "backend/llvm/digest.h"

namespace tap::driver {

namespace {

constexpr std::uint64_t most_bytes_of_texts = 16u << 20;

std::vector<StoredTexts*>& used_stores() {
  static std::vector<StoredTexts*> stores;
  return stores;
}

}  // namespace

StoredTexts::StoredTexts(const StoredWords& words)
    : words_(words),
      build_(backend::build_id()),
      folder_(build_.empty() ? "" : backend::default_cache_folder(words.folder)) {
  used_stores().push_back(this);
}

std::optional<std::string> StoredTexts::find(const std::string& key) {
  std::error_code ignored;
  if (!cache_ && !std::filesystem::exists(folder_, ignored)) return std::nullopt;
  auto entry = cache().find(digest(key));
  if (!entry || !entry->starts_with(key)) return std::nullopt;
  return entry->substr(key.size());
}

void StoredTexts::store(const std::string& key, const std::string& text) { cache().store(digest(key), key + text); }

std::vector<Diagnostic> StoredTexts::take_warnings() {
  return cache_ ? cache_->take_warnings() : std::vector<Diagnostic>();
}

backend::KernelCache& StoredTexts::cache() {
  if (!cache_)
    cache_.emplace(backend::CacheOptions{.folder = folder_,
                                         .most_bytes = most_bytes_of_texts,
                                         .words = {.entry = words_.entry, .made = words_.made, .holds = words_.holds}});
  return *cache_;
}

backend::Digest StoredTexts::digest(const std::string& key) const {
  return backend::digest_of({words_.folder, build_, key});
}

void show_store_warnings(const Session& session) {
  for (StoredTexts* store : used_stores())
    for (const Diagnostic& warning : store->take_warnings()) session.report(warning);
}

}  // namespace tap::driver
