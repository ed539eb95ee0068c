// The temporary files that this process has staged, so that a signal handler can remove them. Paths are noted before the
// file is created, so there is no moment in which a file exists that nobody knows.
//
// While a set of outputs is being renamed to its final names, the set must not be torn: a signal that arrives then is
// remembered and raised again when the renames are done.
#pragma once

#include <string>

namespace tap {

// Notes a path for the handler; the place is freed by forget_staged. Thread-safe.
struct StagedPath;
StagedPath* note_staged(const std::string& path);
void forget_staged(StagedPath* staged);

// For a signal handler. Async-signal-safe: unlinks every staged file. False (and nothing is done) during renames:
// then return from the handler, and the signal is raised again afterwards.
bool remove_staged_files(int signal) noexcept;

// Holds signals back while it lives.
class CommitSection {
 public:
  CommitSection();
  ~CommitSection();
  CommitSection(const CommitSection&) = delete;
  CommitSection& operator=(const CommitSection&) = delete;
};

}  // namespace tap
