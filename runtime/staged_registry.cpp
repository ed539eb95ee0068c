#include "runtime/staged_registry.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace tap {

// Entries form a list that only grows; an entry with a null path is free. The one that exchanges a path for null owns
// it: the handler leaks it (it must not call free), unregister_staged frees it.
struct StagedPath {
  std::atomic<char*> path{nullptr};
  StagedPath* next = nullptr;
};

namespace {

static_assert(std::atomic<char*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

std::atomic<StagedPath*> entries{nullptr};
std::atomic<int> committing{0};
std::atomic<int> pending_signal{0};

}  // namespace

StagedPath* register_staged(const std::string& path) {
  char* copy = strdup(path.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  for (StagedPath* p = entries.load(); p != nullptr; p = p->next) {
    char* free_place = nullptr;
    if (p->path.compare_exchange_strong(free_place, copy)) return p;
  }
  auto* entry = new StagedPath;
  entry->path.store(copy);
  entry->next = entries.load();
  while (!entries.compare_exchange_weak(entry->next, entry)) {}
  return entry;
}

void unregister_staged(StagedPath* staged) { std::free(staged->path.exchange(nullptr)); }

bool remove_staged_files(int signal) noexcept {
  if (committing.load() > 0) {
    pending_signal.store(signal);
    // The last commit may have ended in between without seeing the signal: then it is ours.
    if (committing.load() > 0 || pending_signal.exchange(0) == 0) return false;
  }
  for (StagedPath* p = entries.load(); p != nullptr; p = p->next) {
    if (char* path = p->path.exchange(nullptr)) unlink(path);
  }
  return true;
}

CommitSection::CommitSection() { committing.fetch_add(1); }

CommitSection::~CommitSection() {
  if (committing.fetch_sub(1) != 1) return;
  if (int signal = pending_signal.exchange(0)) raise(signal);
}

}  // namespace tap
