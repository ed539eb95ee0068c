// What evaluates a program: the interpreter (slow and obviously right) or native code; and the outside kernels it may call.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/tensor.h"

namespace CLI {
class App;
}

namespace tap::driver {

struct EngineOptions {
  std::string engine = "native";
  std::size_t threads = 1;
  std::vector<std::string> kernels;  // shared libraries with outside kernels
};
void add_engine_options(CLI::App& app, EngineOptions& options);

std::vector<Tensor> evaluate(const ir::Program& program, const std::vector<Tensor>& inputs,
                             const EngineOptions& options);

}  // namespace tap::driver
