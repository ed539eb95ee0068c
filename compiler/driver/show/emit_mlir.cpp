#include "compiler/driver/show/emit_mlir.h"

#include "backend/mlir/program.h"
#include "compiler/driver/propagated_file.h"
#include "passes/shardings/follow_shardings.h"
#include "passes/shardings/plan_shardings.h"
#include "runtime/failure.h"
#include "support/phase.h"

namespace tap::driver {

std::string mlir_text(ir::Program program) {
  Phase phase("writing MLIR");
  if (passes::has_shardings(program)) {
    passes::PropagationOptions options;
    options.prepare = false;
    passes::Propagated spread = passes::propagate(std::move(program), options);
    if (!spread.conflicts.empty())
      throw Failure{exit_code::wrong_program, passes::contradicting_group(spread.conflicts.front())};
    program = std::move(spread.program);
  }
  try {
    return backend::mlir::write_program(program);
  } catch (const backend::mlir::Refused& refused) {
    throw wrong_command(Code::command_line, "--emit=mlir: " + refused.what, refused.help);
  }
}

}  // namespace tap::driver
