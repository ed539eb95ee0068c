// Writes a set of output files atomically: either all are old or all are new.
//
// Renaming cannot be interrupted: it happens in a process of its own (run_apart.h), and if that is killed too, or the machine
// loses power, a journal (output_journal.h) lets the next run complete the set.
//
// Every file is first written completely beside its final path, under a name like `.tapc-1f3a09c2-4711-8450-0.tmp` (a hash
// of host and process-id namespace, the process, a counter), and synced. When all are written, they are renamed in
// order; if a rename fails, the previous ones are undone. So after a failure the earlier files are byte-identical. A
// symbolic link at the final path is replaced, not followed. The leftovers of a killed process are removed by the
// next run that writes into the same folder, once that process is gone.
//
//   write_files({{"y.npz", encode_npz(y)}, {"z.npz", encode_npz(z)}});
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/tensors/content.h"

namespace tap {

struct OutputFile {
  std::string path;
  Content content;
  bool executable = false;  // everyone who may read it may run it
  std::uint64_t bytes = 0;  // of the file, if it is longer than the content: the rest is zeros
};

// A complete temporary of another process, which leaves it to us.
struct HandedFile {
  std::string temporary, path;
};

// Throws Failure (exit 4, the system's reason; exit 2, duplicate names); nothing has changed then. `fill`, if given, is
// called with the temporaries, in the order of the files, when all are written and before they are renamed: other
// processes may write to them until it returns. The files that it returns belong to the set.
using FillFiles = std::function<std::vector<HandedFile>(const std::vector<std::string>& temporaries)>;
void write_files(const std::vector<OutputFile>& files, const FillFiles& fill = {});

// Only writes the temporaries. If `hand` returns true, another process renames them; else it happens now, as above.
void hand_files(const std::vector<OutputFile>& files,
                const std::function<bool(const std::vector<std::string>& temporaries)>& hand);

class StagedFile {
 public:
  // Writes and syncs the temporary. Throws Failure.
  explicit StagedFile(const OutputFile& file);
  static StagedFile of(HandedFile handed);
  ~StagedFile();
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;

  const std::string& temporary() const { return temporary_; }
  const std::string& path() const { return path_; }
  void leave();          // another process renames the temporary, or removes it
  void publish();        // renames to the final name; the previous file is kept during the StagedFile's lifetime
  void undo() noexcept;  // after publish: restores the previous file

 private:
  StagedFile() = default;
  bool exchange();
  void keep_link();

  std::string path_, temporary_;
  std::string earlier_;  // after publish: where the previous file is kept; empty if there was none
  struct StagedPath* registration_ = nullptr;
  struct StagedPath* link_registration_ = nullptr;
};

// Completes sets in `folder` whose process is gone, and removes its other temporaries. Returns how many.
int remove_leftovers(const std::string& folder);

}  // namespace tap
