// Inputs of main that a plan divides over devices: each device holds its blocks only, and an operation that reads more
// gathers it just before it runs. So a plan can hold weights in parts although the operations that read them are not
// split along them.
//
//   split W on axis 0 into 4 over grid.x        W.part[d0, d1] = W[d0, d1], split along d0, before each reader of W
//
// Each reader has a copy of its own: what it gathers is dropped after it.
#pragma once

#include "passes/splits/apply_splits.h"

namespace tap::passes {

struct DividedInputs {
  ir::Program program;
  ir::Step step;                   // no claims if the plan divides no input
  ir::Plan plan;                   // its lines about inputs apply to the copies
  std::vector<std::size_t> lines;  // by decision of `plan`: that of the given plan
};
// The name of the input that the decision divides, or nullptr.
const std::string* divided_input(const ir::Program& program, const ir::Decision& decision);

DividedInputs divide_inputs(const ir::Program& program, const ir::Plan& plan);

}  // namespace tap::passes
