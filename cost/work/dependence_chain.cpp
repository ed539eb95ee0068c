#include "cost/work/dependence_chain.h"

#include <algorithm>
#include <unordered_map>

#include "cost/work/instruction_of.h"

namespace tap::cost {

using ir::CellId, ir::CellNode, ir::CellOp;

namespace {

struct Chains {
  std::uint32_t accumulator;
  const backend::Kernel& kernel;
  const Device& device;
  FusedProducts& fused;
  std::unordered_map<CellId, double> known = {};

  double to(CellId id) {
    if (auto found = known.find(id); found != known.end()) return found->second;
    const CellNode& node = kernel.exprs[id];
    double seconds = -1;
    if (node.op == CellOp::argument && kernel.slots[node.attribute].accumulator == accumulator) seconds = 0;
    for (CellId arg : node.args) {
      const double below = to(arg);
      if (below >= 0) seconds = std::max(seconds, below + own(id));
    }
    known.emplace(id, seconds);
    return seconds;
  }
  double own(CellId id) const {
    const CellNode& node = kernel.exprs[id];
    const std::optional<Instruction> kind = instruction_of(kernel.exprs, id);
    if (!kind) return 0;
    const bool is_simple = *kind == Instruction::arithmetic || *kind == Instruction::add;
    const double slower =
        is_simple ? 1 : device.rates.of(node.type, Instruction::arithmetic) / device.rates.of(node.type, *kind);
    return fused.is_product(id) ? 0 : device.latency * std::min(slower, 8.0);
  }
};

}  // namespace

double chain_from(std::uint32_t accumulator, CellId value, const backend::Kernel& kernel, const Device& device,
                  FusedProducts& fused) {
  return Chains{accumulator, kernel, device, fused}.to(value);
}

}  // namespace tap::cost
