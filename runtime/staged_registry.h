// The temporary files of this process, so that a signal handler can remove them. A path is registered before its file
// is created, so every file is known at all times.
//
// While a set of outputs is being renamed to its final names, the set must not be interrupted: a signal is deferred
// and raised again after the renames.
#pragma once

#include <string>

namespace tap {

// Registers a path for the handler; unregister_staged frees the entry. Thread-safe.
struct StagedPath;
StagedPath* register_staged(const std::string& path);
void unregister_staged(StagedPath* staged);

// For a signal handler. Async-signal-safe: unlinks every staged file. During renames it returns false and does nothing:
// return from the handler then; the signal is raised again afterwards.
bool remove_staged_files(int signal) noexcept;

// Defers signals during its lifetime.
class CommitSection {
 public:
  CommitSection();
  ~CommitSection();
  CommitSection(const CommitSection&) = delete;
  CommitSection& operator=(const CommitSection&) = delete;
};

}  // namespace tap
