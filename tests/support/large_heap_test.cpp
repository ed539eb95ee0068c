#include "support/large_heap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace tap {
namespace {

// Small blocks come from memory that the heap already has, and stay in it.
int grows_again() {
  use_large_heap();
  const void* end = ::sbrk(0);
  std::vector<void*> blocks;
  blocks.reserve(20'000);
  for (int k = 0; k < 20'000; ++k) blocks.push_back(std::malloc(1000));
  for (void* block : blocks) std::free(block);
  return ::sbrk(0) == end ? 0 : 1;
}

TEST(LargeHeap, HasTheMemoryOfManyBlocks) {
  const pid_t child = ::fork();  // the heap of this process stays as it is
  if (child == 0) ::_exit(grows_again());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace tap
