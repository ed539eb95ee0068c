// Folders of texts next to the kernel cache: known laws of monoids, decided plans. A folder must meet the same
// conditions as the kernel cache (backend/llvm/kernel_cache.h): only the user can write to it and its entries, and an
// entry is used only if this build wrote it and it is unchanged.
//
//   StoredTexts laws({"laws", "law", "proved", "proofs"});      $XDG_CACHE_HOME/tapc/laws or ~/.cache/tapc/laws
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/llvm/kernel_cache.h"
#include "compiler/driver/session.h"
#include "support/text_store.h"

namespace tap::driver {

struct StoredWords {
  std::string_view folder;
  std::string_view entry, made, holds;  // for warnings: one entry, how it was made, what the folder contains
};

// The folder is created when the first text is stored, so a command that stores nothing leaves no trace.
class StoredTexts : public TextStore {
 public:
  explicit StoredTexts(const StoredWords& words);

  std::optional<std::string> find(const std::string& key) override;
  void store(const std::string& key, const std::string& text) override;
  std::vector<Diagnostic> take_warnings();

 private:
  backend::KernelCache& cache();
  backend::Digest digest(const std::string& key) const;

  StoredWords words_;
  std::string build_, folder_;
  std::optional<backend::KernelCache> cache_;
};

// Warnings about all folders that this process has used.
void show_store_warnings(const Session& session);

}  // namespace tap::driver
