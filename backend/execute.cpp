#include "backend/execute.h"

#include "backend/cut.h"

namespace tap::backend {

std::vector<Tensor> execute(const ir::Program& program, ir::GraphId graph, const std::vector<Tensor>& inputs,
                            const ExecuteOptions& options) {
  std::size_t blocks = options.blocks ? options.blocks : options.threads;
  return Executable(cut_for_threads(program, graph, static_cast<std::int64_t>(blocks)), options).run(inputs);
}

}  // namespace tap::backend
