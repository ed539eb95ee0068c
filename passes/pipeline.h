// The passes, in their order. A pass is a function from Program to Program; the verifier looks at what each one made, and
// a pass that broke something is named.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "ir/graph.h"

namespace tap::passes {

struct Pass {
  std::string_view name;
  std::string_view reason;  // why it stands where it does
  ir::Program (*run)(const ir::Program& program);
};

// From the graph that the frontend builds to the one that is cut into blocks.
std::span<const Pass> lowering();

// Called after each pass, with what it made.
using AfterPass = std::function<void(const Pass& pass, const ir::Program& before, const ir::Program& after)>;

// Pre: the program is verified. Throws InternalError that names the pass whose result the verifier refuses.
ir::Program run(std::span<const Pass> passes, ir::Program program, const AfterPass& after = {});

}  // namespace tap::passes
