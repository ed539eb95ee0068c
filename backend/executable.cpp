// Compiling: each distinct operator that the block graphs apply becomes a kernel.
#include "backend/executable.h"

#include <algorithm>

#include "backend/compiled_program.h"

namespace tap::backend {

using namespace ir;

namespace {

// Numbers the distinct operators of the graphs; equal structures share a kernel.
void lower_operators(CompiledProgram& compiled) {
  const Program& program = compiled.blocks.program;
  compiled.kernel_of.resize(program.operators.size());
  std::unordered_multimap<std::size_t, OperatorId> seen;
  auto visit = [&](OperatorId id) {
    const Operator& op = program[id];
    if (compiled.kernel_of[id.index()] || (!op.map() && !op.reduce())) return;
    std::size_t hash = structural_hash(op);
    auto [begin, end] = seen.equal_range(hash);
    for (auto it = begin; it != end; ++it)
      if (equal_structure(program[it->second], op)) {
        compiled.kernel_of[id.index()] = compiled.kernel_of[it->second.index()];
        return;
      }
    seen.emplace(hash, id);
    compiled.kernel_of[id.index()] = compiled.kernels.size();
    compiled.kernels.push_back(lower(program, op));
  };
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations) visit(operation.op);
}

}  // namespace

CompiledProgram compile(BlockProgram program, Jit& jit) {
  CompiledProgram compiled;
  compiled.blocks = std::move(program);
  lower_operators(compiled);
  compiled.functions = jit.compile(compiled.kernels);
  return compiled;
}

struct Executable::Impl {
  ExecuteOptions options;
  Jit jit;
  ThreadPool pool;
  CompiledProgram compiled;
  Impl(BlockProgram program, const ExecuteOptions& o)
      : options(o), pool(std::max<std::size_t>(o.threads, 1)), compiled(compile(std::move(program), jit)) {}
};

Executable::Executable(BlockProgram program, const ExecuteOptions& options)
    : impl_(std::make_unique<Impl>(std::move(program), options)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&&) noexcept = default;

std::vector<Tensor> Executable::run(const std::vector<Tensor>& inputs) {
  return backend::run(impl_->compiled, inputs, impl_->options, impl_->pool);
}

std::size_t Executable::kernel_count() const { return impl_->compiled.kernels.size(); }

std::string Executable::print_kernels() const {
  std::string out;
  for (const Kernel& kernel : impl_->compiled.kernels) out += print(kernel);
  return out;
}

}  // namespace tap::backend
