// Outputs are all old or all new: failures while staging, while renaming, signals, and kills.
#include "runtime/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/staged_registry.h"
#include "runtime/temporary_name.h"
#include "temp_folder.h"

namespace tap {
namespace {

OutputFile text_file(const std::string& path, const std::string& text) { return {path, {text}}; }

TEST(WriteFile, WritesTextsAndTensors) {
  TempFolder folder;
  Tensor tensor(ElementType::i8, {2});
  tensor.store_i64(0, 'x');
  tensor.store_i64(1, 'y');
  write_files({{folder.file("a"), {std::string("head "), tensor}}, text_file(folder.file("b"), "")});
  EXPECT_EQ(read_file(folder.file("a")), "head xy");
  EXPECT_EQ(read_file(folder.file("b")), "");
  EXPECT_EQ(folder.count(), 2u);
}

TEST(WriteFile, ReplacesAndKeepsTheMode) {
  TempFolder folder;
  folder.write("a", "old");
  chmod(folder.file("a").c_str(), 0640);
  write_files({text_file(folder.file("a"), "new")});
  EXPECT_EQ(read_file(folder.file("a")), "new");
  struct stat status {};
  stat(folder.file("a").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640u);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(WriteFile, SymbolicLinkIsReplacedNotFollowed) {
  TempFolder folder;
  folder.write("victim", "untouched");
  std::filesystem::create_symlink(folder.file("victim"), folder.file("link"));
  std::filesystem::create_symlink(folder.file("nowhere"), folder.file("dangling"));
  write_files({text_file(folder.file("link"), "new"), text_file(folder.file("dangling"), "new")});
  EXPECT_EQ(read_file(folder.file("victim")), "untouched");
  EXPECT_EQ(read_file(folder.file("link")), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.file("dangling")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("nowhere")));
}

TEST(WriteFile, RefusesPathsThatAreNotFiles) {
  TempFolder folder;
  auto write = [&](const std::string& path) {
    return [&folder, path] { write_files({text_file(folder.file("first"), "new"), text_file(path, "x")}); };
  };
  folder.write("first", "old");
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", folder.file("null"));
  expect_failure(write(folder.path()), 4, "it is a folder");
  expect_failure(write("/dev/null"), 4, "it is a device");
  expect_failure(write(folder.file("null")), 4, "it is a device");
  expect_failure(write(folder.file("fifo")), 4, "it is a device, pipe or socket");
  expect_failure(write(folder.file("missing/x")), 4, "No such file or directory");
  expect_failure(write(folder.file("first") + "/x"), 4, "Not a directory");
  expect_failure(write(folder.file(std::string(300, 'n'))), 4, "File name too long");
  expect_failure(write(""), 4, "the file name is missing");
  expect_failure(write(folder.path() + "/"), 4, "the file name is missing");
  EXPECT_EQ(read_file(folder.file("first")), "old");
  EXPECT_EQ(folder.count(), 3u);  // first, fifo, null: no temporaries
}

TEST(WriteFile, FullDiskAtTheThirdOfFiveChangesNothing) {
  TempFolder folder;
  std::vector<OutputFile> files;
  for (int i = 0; i < 5; ++i) {
    folder.write(std::to_string(i), "old " + std::to_string(i));
    files.push_back(text_file(folder.file(std::to_string(i)), std::string(i == 2 ? 100000 : 100, 'n')));
  }
  rlimit before{}, small{};
  getrlimit(RLIMIT_FSIZE, &before);
  small = before;
  small.rlim_cur = 4096;
  auto earlier = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  ThrownFailure t = thrown_by([&] { write_files(files); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, earlier);
  EXPECT_EQ(t.exit_code, 4);
  EXPECT_NE(t.message.find("/2` cannot be written: File too large"), std::string::npos) << t.message;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(read_file(folder.file(std::to_string(i))), "old " + std::to_string(i));
  EXPECT_EQ(folder.count(), 5u);
}

TEST(WriteFile, FailedRenameIsUndone) {
  TempFolder folder;
  folder.write("a", "old");
  {
    StagedFile a({folder.file("a"), {std::string("new")}}), b({folder.file("b"), {std::string("new")}}),
        c({folder.file("c"), {std::string("new")}});
    std::filesystem::create_directory(folder.file("c"));
    a.publish();
    b.publish();
    EXPECT_EQ(read_file(folder.file("a")), "new");
    EXPECT_EQ(thrown_by([&] { c.publish(); }).exit_code, 4);
    b.undo();
    a.undo();
  }
  EXPECT_EQ(read_file(folder.file("a")), "old");
  EXPECT_FALSE(std::filesystem::exists(folder.file("b")));
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("c")));
  EXPECT_EQ(folder.count(), 2u);
}

TEST(TemporaryName, IsRecognised) {
  const auto own = owner_of_temporary(temporary_name());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->process, static_cast<long>(getpid()));
  EXPECT_GT(own->start, 0u);
  EXPECT_FALSE(is_over(*own));
  EXPECT_NE(temporary_name(), temporary_name());
  std::string name = temporary_name();
  EXPECT_FALSE(owner_of_temporary(".tapc-00000000-1-0.tmp") && name.starts_with(".tapc-00000000-"));
  EXPECT_FALSE(owner_of_temporary("y.npy"));
  EXPECT_FALSE(owner_of_temporary(name + "x"));
  EXPECT_FALSE(owner_of_temporary(name.substr(0, 15) + "-0.tmp"));
  EXPECT_FALSE(owner_of_temporary(name.substr(0, 15) + "12.tmp"));
}

TEST(TemporaryName, AProcessWithTheSameIdIsAnotherOne) {
  TemporaryOwner own = *owner_of_temporary(temporary_name());
  EXPECT_TRUE(is_over({own.process, own.start + 1}));
  EXPECT_FALSE(is_over({own.process, 0}));  // its start is not known
}

// As under a parent that does not wait for its children.
TEST(TemporaryName, AnEndedProcessIsOverBeforeItsParentHasWaited) {
  int its[2];
  ASSERT_EQ(pipe(its), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = temporary_name();
    _exit(write(its[1], name.data(), name.size()) == static_cast<ssize_t>(name.size()) ? 0 : 1);
  }
  close(its[1]);
  char name[256];
  const ssize_t count = read(its[0], name, sizeof name);
  close(its[0]);
  ASSERT_GT(count, 0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const auto owner = owner_of_temporary({name, static_cast<std::size_t>(count)});
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->process, child);
  EXPECT_EQ(kill(child, 0), 0);
  EXPECT_TRUE(is_over(*owner));
  waitpid(child, nullptr, 0);
}

TEST(WriteFile, LeftoversOfDeadProcessesAreRemoved) {
  TempFolder folder;
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  pid_t child = fork();
  if (child == 0) {
    new StagedFile({folder.file("a"), {std::string("half")}});
    char byte;
    if (read(go[0], &byte, 1) < 0) _exit(1);
    _exit(0);  // as if killed: no destructor runs
  }
  while (folder.count() == 0) usleep(1000);
  EXPECT_EQ(remove_leftovers(folder.path()), 0);  // it still lives
  ASSERT_EQ(write(go[1], "x", 1), 1);
  waitpid(child, nullptr, 0);
  close(go[0]);
  close(go[1]);
  EXPECT_EQ(folder.count(), 1u);
  write_files({text_file(folder.file("b"), "")});
  EXPECT_EQ(folder.count(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder.file("b")));
}

// As tapc does it, but the process ends by the signal, so that a parent sees which it was.
extern "C" void end_without_staged_files(int number) {
  if (!remove_staged_files(number)) return;
  signal(number, SIG_DFL);
  raise(number);
}

void remove_staged_on_signals() {
  for (int number : {SIGINT, SIGTERM}) signal(number, end_without_staged_files);
}

TEST(SignalsDeathTest, StagedFilesAreRemovedAndTheSignalEndsTheProcess) {
  for (int signal : {SIGINT, SIGTERM}) {
    TempFolder folder;
    auto interrupted = [&] {
      remove_staged_on_signals();
      StagedFile a({folder.file("a"), {std::string("half")}}), b({folder.file("b"), {std::string("half")}});
      if (folder.count() != 2) _exit(1);
      raise(signal);
    };
    EXPECT_EXIT(interrupted(), testing::KilledBySignal(signal), "");
    EXPECT_EQ(folder.count(), 0u);
  }
}

TEST(SignalsDeathTest, ASignalDuringTheRenamesWaitsForTheirEnd) {
  TempFolder folder;
  auto interrupted = [&] {
    remove_staged_on_signals();
    StagedFile a({folder.file("a"), {std::string("new")}}), b({folder.file("b"), {std::string("new")}});
    CommitSection undivided;
    a.publish();
    raise(SIGTERM);
    b.publish();
  };
  EXPECT_EXIT(interrupted(), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EQ(read_file(folder.file("a")) + read_file(folder.file("b")), "newnew");
  EXPECT_EQ(folder.count(), 2u);
}

// A child writes generations of a set of three files; it is stopped at a random moment.
void write_generations(const TempFolder& folder) {
  for (int generation = 0;; ++generation) {
    std::string text = std::string(20000, static_cast<char>('a' + generation % 26));
    write_files(
        {text_file(folder.file("0"), text), text_file(folder.file("1"), text), text_file(folder.file("2"), text)});
  }
}

// What a process that was killed had begun ends apart from it.
void wait_for_orphans() {
  while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {}
}

void stop_at_random(int signal, bool leaves_nothing) {
  TempFolder folder;
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  for (int round = 0; round < 25; ++round) {
    pid_t child = fork();
    if (child == 0) {
      remove_staged_on_signals();
      write_generations(folder);
    }
    usleep(static_cast<useconds_t>(2000 + round * 700));
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    wait_for_orphans();
    std::vector<std::string> texts;
    for (std::string name : {"0", "1", "2"}) {
      if (std::filesystem::exists(folder.file(name))) texts.push_back(read_file(folder.file(name)));
    }
    for (const std::string& text : texts) {
      ASSERT_EQ(text.size(), 20000u);
      ASSERT_EQ(text, std::string(20000, text[0]));  // one generation, complete
      ASSERT_EQ(text, texts[0]);
    }
    if (leaves_nothing) { ASSERT_EQ(folder.count(), texts.size()); }
  }
  write_files({text_file(folder.file("0"), "")});
  EXPECT_LE(folder.count(), 3u);  // what the killed ones left is gone
}

TEST(WriteFile, InterruptionKeepsOneGeneration) { stop_at_random(SIGINT, true); }
TEST(WriteFile, KillKeepsOneGeneration) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers cannot follow the process that renames (run_apart.cpp), so this one does";
#endif
  stop_at_random(SIGKILL, false);
}

}  // namespace
}  // namespace tap
