// Rows outside an operand cost nothing, also where the memory before and after it is not there: a masked load of no lanes takes a
// thousand cycles in such a page.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>

#include "tests/backend/written_result.h"

namespace tap::backend::test {
namespace {

constexpr std::size_t around = std::size_t{1} << 20;

// Memory of zeros between others: with or without pages.
std::shared_ptr<std::byte> memory_between(std::size_t bytes, bool pages) {
  const std::size_t whole = bytes + 2 * around;
  void* memory = mmap(nullptr, whole, pages ? PROT_READ | PROT_WRITE : PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (pages ? MAP_POPULATE : 0), -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* first = static_cast<std::byte*>(memory) + around;
  if (!pages && mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return {first, [=](std::byte*) { munmap(memory, whole); }};
}

double least_seconds(Executable& executable, const std::vector<Tensor>& inputs) {
  double least = 1;
  for (int run = 0; run < 20; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    executable.run(inputs);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

TEST(EdgeOfMemory, RowsOutsideTakeNoTime) {
  const ir::Program program = written_program(
      "program p(x: f32[2, 16384]) -> (y: f32[2, 16384]) { y[i, j] = x[i - 1, j else 0] + x[i + 1, j else 0] "
      "for i in 0..2, j in 0..16384 }");
  Executable executable = test::executable(program, {});
  const Tensor shape(f32, {2, 16384});
  double seconds[2];
  for (bool pages : {false, true})
    seconds[pages] = least_seconds(executable, {Tensor(f32, shape.shape(), memory_between(shape.byte_size(), pages))});
  EXPECT_LT(seconds[false], 5 * seconds[true]);
}

}  // namespace
}  // namespace tap::backend::test
