// A rename that fails in the middle of several outputs, through write_files itself: what was there before is there again.
// The renames of this test program go through these functions, of which one may be told to fail.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/write_file.h"
#include "temp_folder.h"

namespace {

std::string failing;       // the end of the final name whose rename fails
bool can_exchange = true;  // as file systems like NFS cannot

bool fails(const char* to) { return !failing.empty() && std::string_view(to).ends_with(failing); }

}  // namespace

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  if ((flags & RENAME_EXCHANGE) != 0 && !can_exchange) return errno = EINVAL, -1;
  if (fails(to)) return errno = EIO, -1;
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (fails(to)) return errno = EIO, -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace tap {
namespace {

// a and c are there before, b is not.
void expect_undone_at(const std::string& which) {
  TempFolder folder;
  folder.write("a", "old a");
  folder.write("c", "old c");
  std::vector<OutputFile> files;
  for (const char* name : {"a", "b", "c"}) files.push_back({folder.file(name), {std::string("new")}});
  failing = "/" + which;
  const ThrownFailure t = thrown_by([&] { write_files(files); });
  failing.clear();
  EXPECT_EQ(t.exit_code, 4);
  EXPECT_NE(t.message.find("/" + which + "` cannot be written"), std::string::npos) << t.message;
  EXPECT_EQ(read_file(folder.file("a")), "old a") << which;
  EXPECT_EQ(read_file(folder.file("c")), "old c") << which;
  EXPECT_FALSE(std::filesystem::exists(folder.file("b"))) << which;
  EXPECT_EQ(folder.count(), 2u) << which;  // nor any temporaries
  write_files(files);
  for (const char* name : {"a", "b", "c"}) EXPECT_EQ(read_file(folder.file(name)), "new");
  EXPECT_EQ(folder.count(), 3u);
}

TEST(FailedRename, RestoresEveryOutput) {
  for (const char* which : {"a", "b", "c"}) expect_undone_at(which);
}
TEST(FailedRename, WithoutAtomicExchange) {
  can_exchange = false;
  for (const char* which : {"a", "b", "c"}) expect_undone_at(which);
  can_exchange = true;
}

}  // namespace
}  // namespace tap
