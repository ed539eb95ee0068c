// Opening files, and files that change while they are mapped (row E11).
#include "runtime/tensors/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "runtime/tensors/npy.h"
#include "temp_folder.h"

namespace tap {
namespace {

constexpr std::size_t large = 4 << 20;

long sum(const MappedFile& file) {
  auto bytes = file.bytes().span();
  return std::accumulate(bytes.begin(), bytes.end(), 0L, [](long s, std::byte b) { return s + static_cast<int>(b); });
}

TEST(MappedFile, SmallFilesAreReadAndLargeOnesMapped) {
  TempFolder folder;
  EXPECT_FALSE(MappedFile::open(folder.write("small", "abc")).is_mapped());
  MappedFile file = MappedFile::open(folder.write("large", std::string(large, '\1')));
  EXPECT_TRUE(file.is_mapped());
  EXPECT_EQ(sum(file), static_cast<long>(large));
  EXPECT_TRUE(file.intact());
  EXPECT_EQ(MappedFile::open(folder.write("empty", "")).bytes().size(), 0u);
}

TEST(MappedFile, RefusesIrregularFiles) {
  TempFolder folder;
  auto open = [](const std::string& path) { return [path] { MappedFile::open(path); }; };
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  expect_failure(open(folder.file("fifo")), 4, "it is a named pipe");  // and does not wait for a writer
  expect_failure(open(folder.path()), 4, "it is a folder");
  expect_failure(open("/dev/zero"), 4, "it is a device");
  expect_failure(open(folder.file("missing")), 4, "No such file or directory");
  expect_failure(open(folder.write("x", "") + "/y"), 4, "Not a directory");
  expect_failure(open(std::string(5000, 'a')), 4, "File name too long");
}

TEST(MappedFile, E11TruncationWhileMappedIsDetected) {
  TempFolder folder;
  std::string path = folder.write("x", std::string(large, '\1'));
  MappedFile file = MappedFile::open(path);
  MappedFile other = MappedFile::open(folder.write("y", std::string(large, '\1')));
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  EXPECT_EQ(sum(file), 4096);  // what is gone reads as zero
  EXPECT_FALSE(file.intact());
  EXPECT_TRUE(other.intact());
  expect_failure([&] { file.require_intact(); }, 3, "changed while in use");
}

TEST(MappedFile, E11TruncationIsDetectedIfTheSizeIsRestored) {
  TempFolder folder;
  std::string path = folder.write("x", std::string(large, '\1'));
  struct stat before {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  MappedFile file = MappedFile::open(path);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(sum(file), 0);
  ASSERT_EQ(truncate(path.c_str(), large), 0);
  timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_FALSE(file.intact());
}

TEST(MappedFile, E11ChangeInPlaceIsDetectedReplacementIsHarmless) {
  TempFolder folder;
  std::string path = folder.write("x", std::string(large, '\1'));
  MappedFile file = MappedFile::open(path);
  usleep(20000);  // the clock of modification times is coarse
  int fd = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "z", 1, 0), 1);
  close(fd);
  EXPECT_FALSE(file.intact());
  MappedFile second = MappedFile::open(path);
  long before = sum(second);
  std::filesystem::rename(folder.write("new", "short"), path);
  EXPECT_TRUE(second.intact());
  EXPECT_EQ(sum(second), before);
}

TEST(MappedFile, E11ManyThreadsFaultInManyFiles) {
  TempFolder folder;
  std::vector<MappedFile> files;
  for (int i = 0; i < 8; ++i)
    files.push_back(MappedFile::open(folder.write(std::to_string(i), std::string(large, '\1'))));
  for (int i = 0; i < 8; i += 2) ASSERT_EQ(truncate(files[static_cast<std::size_t>(i)].path().c_str(), 0), 0);
  std::atomic<long> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (const auto& f : files) total += sum(f);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total, 8 * 4 * static_cast<long>(large));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(files[i].intact(), i % 2 == 1);
}

TEST(MappedFile, ATensorKeepsItsFileMapped) {
  TempFolder folder;
  Tensor tensor;
  {
    std::string path = folder.write("x.npy", npy_header(ElementType::u8, {large}) + std::string(large, '\7'));
    MappedFile file = MappedFile::open(path);
    tensor = parse_npy(file.bytes(), "`x.npy`");
    EXPECT_EQ(tensor.data(), file.bytes().data() + 128);
  }
  EXPECT_EQ(tensor.load_i64(large - 1), 7);
}

TEST(MappedFileDeathTest, UnrelatedFaultIsNotIntercepted) {
  TempFolder folder;
  MappedFile file = MappedFile::open(folder.write("ours", std::string(large, '\1')));
  std::string path = folder.write("theirs", std::string(8192, 'x'));
  int fd = ::open(path.c_str(), O_RDONLY);
  auto* theirs = static_cast<volatile char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0));
  close(fd);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EXIT((void)theirs[0], testing::KilledBySignal(SIGBUS), "");
  munmap(const_cast<char*>(theirs), 8192);
}

extern "C" void theirs(int signal) { _exit(signal == SIGBUS ? 70 : 1); }
extern "C" void theirs_with_details(int signal, siginfo_t* info, void* context) {
  _exit(signal == SIGBUS && info->si_code == BUS_ADRERR && context != nullptr ? 71 : 1);
}

// Installs a handler of SIGBUS, then has ours installed by a mapping, and meets a fault in a mapping of neither's.
void fault_after(struct sigaction action) {
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
  TempFolder folder;
  MappedFile ours = MappedFile::open(folder.write("ours", std::string(large, '\1')));
  std::string path = folder.write("theirs", std::string(8192, 'x'));
  int fd = ::open(path.c_str(), O_RDONLY);
  auto* bytes = static_cast<volatile char*>(mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0));
  if (truncate(path.c_str(), 0) != 0) _exit(2);
  (void)bytes[0];
  _exit(3);
}

// The handler is installed once a process, so these run in a process of their own.
struct EarlierHandlerDeathTest : testing::Test {
  EarlierHandlerDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  struct sigaction action {};
};

TEST_F(EarlierHandlerDeathTest, IsCalledForAnUnrelatedFault) {
  action.sa_handler = theirs;
  EXPECT_EXIT(fault_after(action), testing::ExitedWithCode(70), "");
}

TEST_F(EarlierHandlerDeathTest, GetsTheDetailsOfTheFault) {
  action.sa_sigaction = theirs_with_details;
  action.sa_flags = SA_SIGINFO;
  EXPECT_EXIT(fault_after(action), testing::ExitedWithCode(71), "");
}

TEST_F(EarlierHandlerDeathTest, IgnoredFaultStillEndsTheProcess) {
  action.sa_handler = SIG_IGN;
  EXPECT_EXIT(fault_after(action), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(EarlierHandlerDeathTest, ReceivesSentSignals) {
  action.sa_handler = theirs;
  auto send = [this] {
    sigaction(SIGBUS, &action, nullptr);
    TempFolder folder;
    MappedFile ours = MappedFile::open(folder.write("ours", std::string(large, '\1')));
    raise(SIGBUS);
  };
  EXPECT_EXIT(send(), testing::ExitedWithCode(70), "");
}

TEST(SameFile, FollowsLinks) {
  TempFolder folder;
  std::string a = folder.write("a", "1"), b = folder.write("b", "1");
  std::filesystem::create_symlink(a, folder.file("soft"));
  std::filesystem::create_hard_link(a, folder.file("hard"));
  EXPECT_TRUE(same_file(a, folder.file("soft")));
  EXPECT_TRUE(same_file(folder.file("hard"), folder.file("soft")));
  EXPECT_TRUE(same_file(a, folder.path() + "/./a"));
  EXPECT_FALSE(same_file(a, b));
  EXPECT_FALSE(same_file(a, folder.file("missing")));
}

}  // namespace
}  // namespace tap
