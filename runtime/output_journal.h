// What a set of outputs will be, on disk before the first file is renamed: the next run that writes into one of its folders
// completes the set. Files are identified by device and inode: a file that was written since is not touched.
//
//   .tapc-1f3a09c2-4711-8450-3.journal     `.tapc-1f3a09c2-4711-8450-0.tmp` is to be `y.npy`, which was inode 12; …
//
// Each folder of the set has a copy. Its lock is held by the process that renames; without it the process is gone.
#pragma once

#include <string>
#include <vector>

namespace tap {

struct JournalEntry {
  std::string temporary, path;  // absolute
  std::string fresh, earlier;   // identities of the new file, and of the one that it replaces; empty: there is none
  bool operator==(const JournalEntry&) const = default;
};

// Of a file; empty: it does not exist.
std::string file_identity(const std::string& path);
std::string absolute_path(const std::string& path);

class OutputJournal {
 public:
  // Throws Failure if no journal can be written. Pre: the temporaries exist.
  explicit OutputJournal(std::vector<JournalEntry> entries);
  // Removes the journal: the set is complete, or as it was.
  ~OutputJournal();
  void remove();
  OutputJournal(const OutputJournal&) = delete;

  void turn_back();     // from now on earlier files are to be restored
  void finish() const;  // renames what is not yet renamed

 private:
  struct Copy {
    std::string path;
    int file = -1;
  };
  void write(const std::string& folder, const std::string& text);
  std::vector<JournalEntry> entries_;
  std::vector<Copy> copies_;
};

// Completes the sets whose journals are in the folder and whose process is gone. False: some process is renaming there now.
bool finish_journals(const std::string& folder);

}  // namespace tap
