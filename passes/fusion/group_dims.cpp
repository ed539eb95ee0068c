#include "passes/fusion/group_dims.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"

namespace tap::passes {

using namespace ir;

namespace {

class Correspondence {
 public:
  Correspondence(const Program& program, const Graph& graph, const std::vector<Operation>& operations)
      : program_(program), graph_(graph), operations_(operations) {
    for (const Operation& operation : operations) {
      of_dims.emplace_back(program[operation.op].dims.size());
      of_parts_.emplace_back(of_dims.back());
      written_.insert(written_.end(), operation.results.begin(), operation.results.end());
    }
    std::sort(written_.begin(), written_.end());
  }

  // Repeats until nothing changes: forwards, then backwards.
  void spread(bool through_inputs) {
    bool more = true;
    while (more) {
      more = false;
      for (std::size_t k = 0; k < of_dims.size(); ++k) more |= visit(k, through_inputs);
      for (std::size_t k = of_dims.size(); k-- > 0;) more |= visit(k, through_inputs);
    }
  }

  SharedDims of_dims;

 private:
  bool visit(std::size_t k, bool through_inputs) {
    const Operation& operation = operations_[k];
    const Operator& its = program_[operation.op];
    bool more = false;
    for (const Access& a : its.reads) more |= meet(k, its, a, operation.operands[a.tensor], through_inputs);
    for (const Access& a : its.writes) more |= meet(k, its, a, operation.results[a.tensor], through_inputs);
    return more;
  }

  bool meet(std::size_t k, const Operator& its, const Access& access, ValueId value, bool through_inputs) {
    if (!through_inputs && !std::binary_search(written_.begin(), written_.end(), value)) return false;
    auto& axes = of_axes_[value];
    axes.resize(access.projection.rank());
    bool more = false;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      auto d = access.projection.start.rows[axis].as_variable();
      Range whole{0, graph_[value].type.shape[axis]};
      if (!d || access.projection.shape[axis] != 1 || its.dims[*d].role == DimRole::counter) continue;
      auto& dims = its.dims[*d].range == whole ? of_dims[k] : of_parts_[k];
      auto& own = dims[*d];
      bool taken = axes[axis] && std::find(dims.begin(), dims.end(), axes[axis]) != dims.end();
      if (own.has_value() == axes[axis].has_value() || (!own && taken)) continue;
      if (own) axes[axis] = own;
      else own = axes[axis];
      more = true;
    }
    return more;
  }

  const Program& program_;
  const Graph& graph_;
  const std::vector<Operation>& operations_;
  SharedDims of_parts_;  // of dims that cover a part of an axis, through which whole axes may correspond
  std::vector<ValueId> written_;
  std::map<ValueId, std::vector<std::optional<std::uint32_t>>> of_axes_;
};

}  // namespace

SharedDims shared_dims(const Program& program, const Graph& graph, const std::vector<Operation>& operations,
                       std::size_t from, const std::vector<std::uint32_t>& dims) {
  Correspondence found(program, graph, operations);
  for (std::uint32_t g = 0; g < dims.size(); ++g) found.of_dims[from][dims[g]] = g;
  found.spread(false);
  found.spread(true);
  return std::move(found.of_dims);
}

}  // namespace tap::passes
