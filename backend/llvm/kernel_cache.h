// Compiled kernels on disk, so that a program that was compiled once starts at once. An entry's name is the hash of all
// that its bytes depend on (object_compiler.h), so entries never go out of date; they are only dropped, the least recently
// used first, when all of them take more than the bound.
//
//   KernelCache cache({.folder = default_cache_folder()});
//   if (auto object = cache.find(key)) …             nothing if it is not there, or not whole
//   cache.store(key, object);
//
// The folder's entries are code that will run, so a folder that somebody else could write to is not used. Nothing that is
// wrong with a cache keeps a program from running: it is told, once, and kernels are compiled.
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

// What the entries are, in messages and the names of files.
struct CacheWords {
  std::string_view entry = "kernel", made = "compiled", holds = "code";
};

struct CacheOptions {
  std::string folder;                       // empty: no cache
  bool chosen = false;                      // by the user, who wants to know if it cannot be made
  std::uint64_t most_bytes = 256ull << 20;  // of all entries together
  CacheWords words = {};
};

// $XDG_CACHE_HOME/tapc/kernels, or $HOME/.cache/tapc/kernels; empty where neither is an absolute path.
std::string default_cache_folder(std::string_view of = "kernels");

// Safe to be used by several threads, and a folder by several processes.
class KernelCache {
 public:
  explicit KernelCache(const CacheOptions& options);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  std::optional<std::string> find(const Digest& key);
  void store(const Digest& key, std::string_view object);
  // What was wrong with the cache since the last call, for the user.
  std::vector<Diagnostic> take_warnings();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
