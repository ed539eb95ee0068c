// Lowers and compiles the programs of kernel_programs.h and lets the self-check try their kernels. Nothing of them runs
// otherwise, so that what is found is found by the self-check alone (planted/bugs.py).
//
//   self_check_kernels               prints what the self-check refuses; 1 if there is anything
#include <cstdio>
#include <cstdlib>

#include "backend/llvm/executable.h"
#include "tests/planted/kernel_blocks.h"

namespace {

// What is refused, or an empty text.
std::string tried(const tap::test::KernelProgram& of) {
  try {
    tap::backend::Executable executable(tap::test::blocks_of(of), {});
  } catch (const std::exception& wrong) { return wrong.what(); }
  return "";
}

}  // namespace

int main() {
  ::setenv("TAPC_SELF_CHECK", "thorough", 1);
  int refused = 0;
  for (const tap::test::KernelProgram& program : tap::test::kernel_programs) {
    const std::string why = tried(program);
    if (why.empty()) continue;
    std::printf("%s: %s\n", program.name, why.c_str());
    std::fflush(stdout);
    ++refused;
  }
  std::printf("%zu programs, %d refused\n", std::size(tap::test::kernel_programs), refused);
  return refused > 0;
}
