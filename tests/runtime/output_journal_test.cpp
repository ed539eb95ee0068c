// Row H13: sets of outputs whose process has died between two renames.
#include "runtime/output_journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "runtime/temporary_name.h"
#include "runtime/write_file.h"
#include "temp_folder.h"

namespace tap {
namespace {

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Of three files `0`, `1`, `2`, all old, a process renames some, and dies.
template <class Then>
void die_after(const TempFolder& folder, int renamed, const Then& then) {
  for (const char* name : {"0", "1", "2"}) write_text(folder.file(name), "old");
  const pid_t child = fork();
  if (child == 0) {
    std::vector<JournalEntry> entries;
    for (const char* name : {"0", "1", "2"}) {
      JournalEntry entry{folder.file(temporary_name()), folder.file(name), "", ""};
      write_text(entry.temporary, "new");
      entry.fresh = file_identity(entry.temporary);
      entry.earlier = file_identity(entry.path);
      entries.push_back(entry);
    }
    OutputJournal journal(entries);
    for (int k = 0; k < renamed; ++k) {
      const JournalEntry& entry = entries[static_cast<std::size_t>(k)];
      renameat2(AT_FDCWD, entry.temporary.c_str(), AT_FDCWD, entry.path.c_str(), RENAME_EXCHANGE);
    }
    then(journal);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
}

std::string all_of(const TempFolder& folder) {
  return read_file(folder.file("0")) + " " + read_file(folder.file("1")) + " " + read_file(folder.file("2"));
}

void nothing(OutputJournal&) {}

TEST(OutputJournal, IsCompletedByTheNextRun) {
  for (int renamed = 0; renamed <= 3; ++renamed) {
    const TempFolder folder;
    die_after(folder, renamed, nothing);
    write_files({{folder.file("other"), {std::string("x")}}});
    EXPECT_EQ(all_of(folder), "new new new") << renamed;
    EXPECT_EQ(folder.count(), 4U);
  }
}

TEST(OutputJournal, IsTakenBackIfItsProcessHadBegunTo) {
  for (int renamed = 0; renamed <= 3; ++renamed) {
    const TempFolder folder;
    die_after(folder, renamed, [](OutputJournal& journal) { journal.turn_back(); });
    EXPECT_TRUE(finish_journals(folder.path()));
    EXPECT_EQ(all_of(folder), "old old old") << renamed;
    EXPECT_EQ(folder.count(), 3U);
  }
}

TEST(OutputJournal, DoesNotTouchWhatWasWrittenSince) {
  const TempFolder folder;
  die_after(folder, 1, nothing);
  write_text(folder.file("later"), "later");
  std::filesystem::rename(folder.file("later"), folder.file("1"));
  EXPECT_TRUE(finish_journals(folder.path()));
  EXPECT_EQ(all_of(folder), "new later old");
  EXPECT_EQ(folder.count(), 3U);
}

TEST(OutputJournal, OfALivingProcessIsLeftToIt) {
  const TempFolder folder;
  write_text(folder.file("t"), "new");
  write_text(folder.file("0"), "old");
  const OutputJournal journal(
      {{folder.file("t"), folder.file("0"), file_identity(folder.file("t")), file_identity(folder.file("0"))}});
  EXPECT_FALSE(finish_journals(folder.path()));
  EXPECT_EQ(read_file(folder.file("0")), "old");
}

TEST(OutputJournal, ThatOthersMayWriteIsNotObeyed) {
  const TempFolder folder;
  die_after(folder, 1, nothing);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".journal") { ASSERT_EQ(chmod(entry.path().c_str(), 0666), 0); }
  finish_journals(folder.path());
  EXPECT_EQ(all_of(folder), "new old old");
}

TEST(OutputJournal, ThatIsIncompleteSaysNothing) {
  const TempFolder folder;
  die_after(folder, 0, nothing);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".journal") std::filesystem::resize_file(entry.path(), 60);
  EXPECT_TRUE(finish_journals(folder.path()));
  EXPECT_EQ(all_of(folder), "old old old");
}

}  // namespace
}  // namespace tap
