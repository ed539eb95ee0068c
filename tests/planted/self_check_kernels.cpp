// Lowers and compiles the programs of kernel_programs.h and lets the self-check try their kernels. Nothing of them runs
// otherwise, so that what is found is found by the self-check alone (planted/bugs.py).
//
//   self_check_kernels               prints what the self-check refuses; 1 if there is anything
#include <cstdio>
#include <cstdlib>

#include "backend/executable.h"
#include "compiler/driver/certify.h"
#include "passes/expand.h"
#include "tests/frontend/compile_source.h"
#include "tests/passes/lowered.h"
#include "tests/planted/kernel_programs.h"

namespace {

// What is refused, or an empty text.
std::string tried(const tap::test::KernelProgram& of) {
  auto outcome = tap::test::compile_text(of.text);
  if (!outcome.compiled) return "does not compile: " + outcome.messages;
  tap::passes::PassContext context;
  tap::driver::Certified made = tap::driver::certify(outcome.compiled->program, {}, context, of.fused);
  tap::ir::BlockProgram blocks = tap::passes::expand(made.stages.empty() ? outcome.compiled->program : made.stages.back());
  try {
    tap::backend::Executable executable(std::move(blocks), {});
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
