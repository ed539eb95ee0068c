#include "compiler/driver/commands/split_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/plan.h"
#include "passes/splits/split_operator.h"
#include "passes/splits/split_scan.h"

namespace tap::driver {
namespace {

using namespace ir;

std::string_view role_of(const IndexDim& dim) {
  switch (dim.role) {
    case DimRole::parallel: return "parallel";
    case DimRole::reduction: return "reduction";
    case DimRole::counter: return "counter";
  }
  return "";
}

// As in a plan: by number if the name is not unique.
std::string dim_name(const Operator& op, std::uint32_t dim) {
  const std::string& name = op.dims[dim].name;
  bool known = find_dim(op, name) == std::optional(dim);
  return known ? plan_name(name) : fmt::format("#{}", dim);
}

std::string how(const Program& program, const Operator& op, std::uint32_t dim) {
  std::string why = passes::why_not_split(program, op, dim, false);
  if (!why.empty() && op.dims[dim].role == DimRole::reduction && passes::why_not_split(program, op, dim, true).empty())
    return "can only be streamed (`over sequential`): " + why;
  if (!why.empty()) return "cannot be split: " + why;
  if (op.dims[dim].range.size() < 2) return "can be split, but has fewer than two points";
  if (op.reduce() && passes::split_scan(program, op, dim, Blocks{2}))
    return "can be split, into scans of the blocks and the carries between them";
  if (op.dims[dim].role != DimRole::reduction) return "can be split";
  const KernelBody* kernel = op.kernel();
  const MonoidId monoid = kernel ? *kernel->reduced_by : op.reduce()->monoid;
  return fmt::format("can be split, into partials that {} combines", program[monoid].name);
}

std::string lines_of(const Program& program, const Operator& op, bool in_group) {
  if (op.dims.empty()) return op.region() ? "  nothing to split\n" : "  a single point\n";
  std::vector<std::string> names, ranges;
  std::size_t name_width = 0, range_width = 0;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    names.push_back(dim_name(op, d));
    ranges.push_back(to_string(op.dims[d].range));
    name_width = std::max(name_width, names[d].size());
    range_width = std::max(range_width, ranges[d].size());
  }
  std::string text;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    text += fmt::format(
        "  {:{}}  {:{}}  {:9}  {}\n", names[d], name_width, ranges[d], range_width, role_of(op.dims[d]),
        in_group ? "cannot be split: it is inside a group, which is split as one operation" : how(program, op, d));
  return text;
}

}  // namespace

std::string list_splits(const Program& program) {
  std::string text;
  for (const auto& [graph, path] : graph_paths(program)) {
    const bool in_group = passes::is_inside_of_a_group(program, graph);
    std::vector<std::string> names = operation_names(program[graph]);
    for (std::size_t o = 0; o < names.size(); ++o) {
      if (names[o].empty()) continue;
      const Operation& operation = program[graph].operations[o];
      text += plan_name(path + names[o]) + "\n" + lines_of(program, with_author_names(program, operation), in_group);
    }
  }
  return text;
}

}  // namespace tap::driver
