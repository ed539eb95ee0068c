// Compiled kernels on disk, so that a program is compiled only once. The name of an entry is the hash of everything
// that its bytes depend on (object_compiler.h), so entries are never stale; when the cache exceeds its limit, the
// least recently used ones are removed.
//
//   KernelCache cache({.folder = default_cache_folder()});
//   if (auto object = cache.find(key)) …             nothing if it is missing or damaged
//   cache.store(key, object);
//
// Entries are executed, so a folder that another user can write to is not used. A problem with the cache never stops
// a program: it is reported once, and kernels are compiled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/llvm/digest.h"
#include "support/diagnostic.h"

namespace tap::backend {

// The kind of entries, for messages and file names.
struct CacheWords {
  std::string_view entry = "kernel", made = "compiled", holds = "code";
};

struct CacheOptions {
  std::string folder;                       // empty: no cache
  bool chosen = false;                      // by the user: failures to create it are reported
  std::uint64_t most_bytes = 256ull << 20;  // limit for all entries together
  CacheWords words = {};
};

// $XDG_CACHE_HOME/tapc/kernels, or $HOME/.cache/tapc/kernels; empty if neither is an absolute path.
std::string default_cache_folder(std::string_view of = "kernels");

// Several threads may use one object, and several processes one folder.
class KernelCache {
 public:
  explicit KernelCache(const CacheOptions& options);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  std::optional<std::string> find(const Digest& key);
  void store(const Digest& key, std::string_view object);
  // The problems with the cache since the last call, for the user.
  std::vector<Diagnostic> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
