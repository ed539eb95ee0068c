// The programs of kernel_programs.h as they are handed to lowering.
#pragma once

#include "ir/block_program.h"
#include "tests/driver/certified.h"
#include "tests/frontend/compile_source.h"
#include "tests/planted/kernel_programs.h"

namespace tap::test {

// Throws what the compiler has to say.
inline ir::BlockProgram blocks_of(const KernelProgram& of) {
  auto outcome = compile_text(of.text);
  if (!outcome.compiled) throw std::runtime_error("does not compile: " + outcome.messages);
  pipeline::Compilation made =
      driver::test::certified(outcome.compiled->program, {}, pipeline::Stage::blocks, of.fused);
  return made.take_blocks();
}

}  // namespace tap::test
