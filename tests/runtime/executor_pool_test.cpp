// The threads that share the work of native code, and what becomes of a fault on one of them.
#include "runtime/executor_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

namespace tap::executor {
namespace {

using namespace std::chrono_literals;

// Work in which each of two threads waits until the other has come.
struct Rendezvous {
  std::atomic<int> arrived{0};
  std::atomic<unsigned> numbers{0};

  static void arrive(void* data, std::int64_t thread) {
    auto* self = static_cast<Rendezvous*>(data);
    self->numbers |= 1u << thread;
    ++self->arrived;
    for (auto until = std::chrono::steady_clock::now() + 20s;
         self->arrived < 2 && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
  }
};

TEST(ExecutorPool, BothThreadsRun) {
  Pool pool;
  ASSERT_TRUE(pool.start(2));
  for (int round = 0; round < 3; ++round) {
    Rendezvous rendezvous;
    pool.run(Rendezvous::arrive, &rendezvous);
    EXPECT_EQ(rendezvous.arrived, 2);
    EXPECT_EQ(rendezvous.numbers, 3u);
  }
  pool.stop();
}

// Takes numbers, one at a time, as threads take tiles.
struct Numbers {
  std::atomic<int> next{0};
  std::atomic<long> total{0};

  static void add(void* data, std::int64_t) {
    auto* self = static_cast<Numbers*>(data);
    for (int n; (n = self->next++) < 100;) self->total += n;
  }
};

// Runs at once one after another, and after pauses in which workers sleep; of several callers, one has the workers.
TEST(ExecutorPool, EveryRunIsComplete) {
  Pool pool;
  ASSERT_TRUE(pool.start(3));
  auto call = [&](int runs, std::chrono::milliseconds pause) {
    for (int run = 0; run < runs; ++run) {
      Numbers numbers;
      pool.run(Numbers::add, &numbers);
      ASSERT_EQ(numbers.total, 99 * 100 / 2) << run;
      if (pause > 0ms) std::this_thread::sleep_for(pause);
    }
  };
  call(20000, 0ms);
  call(20, 5ms);
  std::thread other([&] { call(2000, 0ms); });
  call(2000, 0ms);
  other.join();
  pool.stop();
}

TEST(ExecutorPool, IdleWorkersSleep) {
  Pool pool;
  ASSERT_TRUE(pool.start(3));
  Numbers numbers;
  pool.run(Numbers::add, &numbers);
  std::this_thread::sleep_for(100ms);
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
  pool.stop();
}

#if !defined(__SANITIZE_THREAD__)  // which does not survive a full stack

volatile int sink = 0;
[[gnu::noinline]] int deep(int n) {  // NOLINT(misc-no-recursion)
  volatile char used[4096];
  used[n % 4096] = static_cast<char>(n);
  sink = static_cast<unsigned char>(used[0]);
  return n < 0 ? 0 : deep(n + 1) + used[n % 4096];
}

void fault_on_another(void* data, std::int64_t thread) {
  Rendezvous::arrive(data, thread);
  if (thread != 0) sink = deep(0);
  std::this_thread::sleep_for(20s);
}

// As tapc has it: the handler of faults runs on a stack of its own, where the thread has one.
void overflow_on_another_thread() {
  struct sigaction action {};
  action.sa_handler = [](int) { ::_exit(70); };
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
  Pool pool;
  if (!pool.start(2)) ::_exit(1);
  Rendezvous rendezvous;
  pool.run(fault_on_another, &rendezvous);
}

TEST(ExecutorPoolDeathTest, StackOverflowOfAnyThreadReachesTheHandler) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(overflow_on_another_thread(), testing::ExitedWithCode(70), "");
}

#endif

}  // namespace
}  // namespace tap::executor
