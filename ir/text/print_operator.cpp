// Prints an operator in readable form (tapc ops; tapc inspect with the names of values):
//
//   operator matmul: y[i, o] = sum[k] x[i, k] * w[k, o]
//     index  i: 0..64   o: 0..32   k: 0..16 reduce
//     read   x: f32[64, 16] at ZRange(start: [i, k], shape: [1, 1])
//     read   w: f32[16, 32] at ZRange(start: [k, o], shape: [1, 1])
//     write  y: f32[64, 32] at ZRange(start: [i, o], shape: [1, 1])
#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/text.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

constexpr std::size_t longest_title = 110;

class OperatorPrinter {
 public:
  OperatorPrinter(const Program& program, const Operator& op)
      : program_(program), op_(op), names_(variable_names(op)) {}

  std::string run() {
    std::vector<std::string> equations =
        std::visit([this](const auto& body) { return this->equations(body); }, op_.body);
    std::string text = "operator " + op_.name;
    bool in_title = equations.size() == 1 && text.size() + equations[0].size() < longest_title;
    text += in_title ? ": " + equations[0] + "\n" : "\n";
    if (!op_.dims.empty()) text += "  index  " + dims() + "\n";
    for (const Constraint& c : op_.constraints) text += "  where  " + to_string(c, names_) + "\n";
    for (const Blocking& b : op_.blockings) text += "  blocks " + blocking(b) + "\n";
    for (const Access& read : op_.reads)
      text += "  read   " + access(read, op_.operands, operand_name(op_, read.tensor));
    for (const Access& write : op_.writes)
      text += "  write  " + access(write, op_.results, result_name(op_, write.tensor));
    if (!in_title)
      for (const std::string& equation : equations) text += "  body   " + equation + "\n";
    return text;
  }

 private:
  std::string dims() const {
    std::vector<std::string> parts;
    for (std::size_t d = 0; d < op_.dims.size(); ++d) {
      const IndexDim& dim = op_.dims[d];
      std::string part = names_[d] + ": " + to_string(dim.range);
      if (dim.role == DimRole::reduction) part += " reduce";
      if (dim.role == DimRole::counter) part += fmt::format(" counter of level {}", dim.level);
      if (dim.keep) part += " keep";
      parts.push_back(std::move(part));
    }
    return joined(parts, "   ");
  }

  // k in block r of 4
  std::string blocking(const Blocking& b) const {
    if (b.dim >= names_.size() || b.block_dim >= names_.size()) return "?";
    return fmt::format("{} in block {} of {}", names_[b.dim], names_[b.block_dim], to_string(b.blocks));
  }

  std::string access(const Access& access, const std::vector<TensorType>& tensors, const std::string& name) const {
    std::string text = name;
    if (access.tensor < tensors.size()) text += ": " + to_string(tensors[access.tensor]);
    text += " at " + to_string(access.projection, names_);
    for (std::size_t axis = 0; axis < access.coordinates.size(); ++axis)
      if (access.coordinates[axis])
        text += fmt::format(", axis {} by {}", axis, print_cell(op_, *access.coordinates[axis]));
    if (access.fill) text += " else " + print_cell(op_, *access.fill);
    for (std::uint32_t d : access.invariant_dims)
      text += ", the same for every " + (d < names_.size() ? names_[d] : "?");
    return text + "\n";
  }

  // y[i, o]
  std::string target(std::size_t write) const {
    if (write >= op_.writes.size()) return "?";
    std::vector<std::string> axes;
    for (const AffineExpr& row : op_.writes[write].projection.start.rows) axes.push_back(to_string(row, names_));
    return result_name(op_, op_.writes[write].tensor) + "[" + joined(axes) + "]";
  }

  static std::string tuple(const std::vector<std::string>& parts) {
    return parts.size() == 1 ? parts[0] : "(" + joined(parts) + ")";
  }

  std::vector<std::string> equations(const MapBody& map) const {
    std::vector<std::string> result;
    for (std::size_t k = 0; k < map.values.size(); ++k)
      result.push_back(target(k) + " = " + print_cell(op_, map.values[k]));
    return result;
  }

  std::vector<std::string> equations(const ReduceBody& reduce) const {
    std::vector<std::string> targets, operands, reduced;
    for (std::size_t k = 0; k < op_.writes.size(); ++k) targets.push_back(target(k));
    for (CellId id : reduce.operands) operands.push_back(print_cell(op_, id));
    for (std::size_t d = 0; d < op_.dims.size(); ++d)
      if (op_.dims[d].role == DimRole::reduction) reduced.push_back(names_[d]);
    return {
        fmt::format("{} = {}[{}] {}", tuple(targets), program_[reduce.monoid].name, joined(reduced), tuple(operands))};
  }

  std::vector<std::string> equations(const KernelBody& kernel) const {
    std::string text = "kernel " + quoted(kernel.symbol);
    if (kernel.reduced_by) text += " by " + program_[*kernel.reduced_by].name;
    if (kernel.flops) text += fmt::format(" cost flops {}", *kernel.flops);
    return {text};
  }

  std::vector<std::string> equations(const TransferBody&) const { return {"transfer"}; }

  std::vector<std::string> equations(const RegionBody& region) const {
    std::string graph = region.graph.index() < program_.graphs.size() ? program_[region.graph].name : "?";
    switch (region.kind) {
      case RegionKind::call: return {"call of graph " + graph};
      case RegionKind::iterate: return {fmt::format("iterate {} of graph {}", to_string(region.trips), graph)};
      case RegionKind::group: return {"group of graph " + graph};
      case RegionKind::choice:
        return {fmt::format("choice of graph {} and {} more", graph, region.alternatives.size())};
    }
    return {};
  }

  const Program& program_;
  const Operator& op_;
  std::vector<std::string> names_;
};

}  // namespace

std::string print(const Program& program, const Operator& op) { return OperatorPrinter(program, op).run(); }

}  // namespace tap::ir
