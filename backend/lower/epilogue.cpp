#include "backend/lower/epilogue.h"

#include <algorithm>

#include "backend/lower/lowering.h"
#include "backend/tiles/patterns.h"
#include "ir/graph.h"

namespace tap::backend {

using namespace ir;

namespace {

using Dims = std::vector<std::size_t>;
using DimsOfAxes = std::vector<std::optional<std::size_t>>;

// The dim of each axis, if every axis is a single distinct dim, or has one point and none.
std::optional<DimsOfAxes> followed(const Access& access, const TensorType& type) {
  DimsOfAxes dims;
  for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
    const AffineExpr& row = access.projection.start.rows[axis];
    const auto dim = row.as_variable();
    const bool is_point = type.shape[axis] == 1 && row.is_constant() && row.offset == 0;
    if (!is_point && (!dim || std::ranges::count(dims, dim) > 0)) return {};
    dims.push_back(dim);
  }
  return dims;
}

class Finder {
 public:
  Finder(const GroupView& group, const MovingDemand& windows)
      : group_(group), windows_(windows), writers_(group.graph.values.size()), in_registers_(writers_.size()) {
    for (std::size_t o = 0; o < group.graph.operations.size(); ++o)
      for (ValueId v : group.graph.operations[o].results) writers_[v.index()].push_back(o);
  }

  // Pre: no scan, no scatter, not streamed. Maps that are `taken` belong to another epilogue.
  std::vector<EpilogueMap> run(std::size_t reduction, const std::vector<bool>& taken) {
    std::fill(in_registers_.begin(), in_registers_.end(), std::nullopt);
    reduction_ = reduction;
    const Operator& op = op_of(reduction);
    for (const Access& write : op.writes) {
      auto dims = followed(write, op.results[write.tensor]);
      if (!dims || !write.invariant_dims.empty() || !covers(op, *dims)) return {};
      keep(reduction, write, std::move(*dims));
    }
    std::vector<EpilogueMap> maps;
    for (std::size_t o = reduction + 1; o < group_.graph.operations.size(); ++o) {
      if (taken[o] || !op_of(o).map()) continue;
      auto dims = dims_of(o);
      if (!dims) continue;
      for (const Access& write : op_of(o).writes)
        if (auto at = followed(write, op_of(o).results[write.tensor]); at && write.invariant_dims.empty()) {
          for (auto& d : *at)
            if (d) d = (*dims)[*d];
          keep(o, write, std::move(*at));
        }
      maps.push_back({o, std::move(*dims)});
    }
    return maps;
  }

 private:
  const Operator& op_of(std::size_t o) const { return group_.program[group_.graph.operations[o].op]; }

  static bool covers(const Operator& op, const DimsOfAxes& dims) {
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (op.dims[d].role != DimRole::reduction && std::ranges::count(dims, std::optional(d)) == 0) return false;
    return true;
  }
  void keep(std::size_t operation, const Access& write, DimsOfAxes dims) {
    ValueId v = group_.graph.operations[operation].results[write.tensor];
    if (writers_[v.index()].size() == 1) in_registers_[v.index()] = std::move(dims);
  }
  // Available before the reduction starts.
  bool is_available(ValueId v) const {
    return std::ranges::all_of(writers_[v.index()], [&](std::size_t writer) { return writer < reduction_; });
  }

  // By dim of the map, the reduction's dim, if each point of the map is one of the reduction's and reads its values in
  // registers.
  std::optional<Dims> dims_of(std::size_t number) const {
    const Operation& operation = group_.graph.operations[number];
    const Operator& op = op_of(number);
    if (!op.constraints.empty() || !op.blockings.empty()) return {};
    for (ValueId v : operation.operands)
      if (!in_registers_[v.index()] && !is_available(v)) return {};
    std::optional<Dims> dims;
    for (const Access& read : op.reads) {
      const auto& registers = in_registers_[operation.operands[read.tensor].index()];
      if (!registers) continue;
      for (const auto& c : read.coordinates)
        if (c) return {};
      auto at = followed(read, op.operands[read.tensor]);
      if (!at || std::ranges::count_if(*at, [](auto& d) { return d.has_value(); }) != std::ssize(op.dims)) return {};
      Dims found(op.dims.size());
      for (std::size_t axis = 0; axis < at->size(); ++axis) {
        if ((*at)[axis].has_value() != (*registers)[axis].has_value()) return {};
        if ((*at)[axis]) found[*(*at)[axis]] = *(*registers)[axis];
      }
      if (dims && *dims != found) return {};
      dims = std::move(found);
    }
    if (!dims || !same_box(number, *dims)) return {};
    return Lowering::cannot_fail(group_.program, op) ? dims : std::nullopt;
  }
  bool same_box(std::size_t map, const Dims& dims) const {
    const Operator& ours = op_of(map);
    const Operator& its = op_of(reduction_);
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (ours.dims[d].role != DimRole::parallel || ours.dims[d].range != its.dims[dims[d]].range ||
          windows_.operations[map][d] != windows_.operations[reduction_][dims[d]])
        return false;
    return true;
  }

  const GroupView& group_;
  const MovingDemand& windows_;
  std::vector<std::vector<std::size_t>> writers_;        // by value
  std::vector<std::optional<DimsOfAxes>> in_registers_;  // by value: the reduction's dim of each axis
  std::size_t reduction_ = 0;
};

}  // namespace

std::vector<std::vector<EpilogueMap>> find_epilogues(const GroupView& group, const MovingDemand& windows,
                                                     const std::vector<bool>& streamed) {
  const auto& operations = group.graph.operations;
  std::vector<std::vector<EpilogueMap>> result(operations.size());
  std::vector<bool> taken(operations.size(), false);
  Finder finder(group, windows);
  for (std::size_t o = 0; o < operations.size(); ++o) {
    const Operator& op = group.program[operations[o].op];
    if (!op.reduce() || streamed[o] || native_scan(op) || native_scatter(group.program, op)) continue;
    result[o] = finder.run(o, taken);
    for (const EpilogueMap& map : result[o]) taken[map.operation] = true;
  }
  return result;
}

std::vector<bool> values_in_registers(const GroupView& group, const std::vector<std::vector<EpilogueMap>>& epilogues) {
  const auto& operations = group.graph.operations;
  std::vector<std::size_t> nest(operations.size());
  for (std::size_t o = 0; o < operations.size(); ++o) nest[o] = o;
  for (std::size_t o = 0; o < operations.size(); ++o)
    for (const EpilogueMap& map : epilogues[o]) nest[map.operation] = o;
  std::vector<std::size_t> written_in(group.graph.values.size(), operations.size());
  for (std::size_t o = 0; o < operations.size(); ++o)
    if (nest[o] != o || !epilogues[o].empty())
      for (ValueId v : operations[o].results) written_in[v.index()] = nest[o];
  std::vector<bool> result(group.graph.values.size(), true);
  for (std::size_t v = 0; v < result.size(); ++v) result[v] = written_in[v] != operations.size();
  for (ValueId v : group.graph.outputs) result[v.index()] = false;
  for (std::size_t o = 0; o < operations.size(); ++o)
    for (ValueId v : operations[o].operands)
      if (written_in[v.index()] != nest[o]) result[v.index()] = false;
  return result;
}

}  // namespace tap::backend
