// The programs of kernel_programs.h as they are handed to lowering.
#pragma once

#include "compiler/driver/certify.h"
#include "passes/splits/expand.h"
#include "tests/frontend/compile_source.h"
#include "tests/planted/kernel_programs.h"

namespace tap::test {

// Throws what the compiler has to say.
inline ir::BlockProgram blocks_of(const KernelProgram& of) {
  auto outcome = compile_text(of.text);
  if (!outcome.compiled) throw std::runtime_error("does not compile: " + outcome.messages);
  driver::Certified made = driver::certify(outcome.compiled->program, {}, {}, of.fused);
  return passes::expand(made.stages.back());
}

}  // namespace tap::test
