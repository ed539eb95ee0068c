#include "passes/splits/shared_writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/block_graph.h"
#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/device_assignment.h"

namespace tap::passes {

using namespace ir;

namespace {

struct Writer {
  const Operation* operation;
  const Operator* op;
  std::uint32_t result;
  std::string name;
};

class WrittenTogether {
 public:
  WrittenTogether(const Program& program, const Graph& graph, ValueId value)
      : program_(program), shape_(graph[value].type.shape), name_(graph[value].name) {
    std::vector<std::string> names;
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Operation& operation = graph.operations[o];
      auto found = std::find(operation.results.begin(), operation.results.end(), value);
      if (found == operation.results.end()) continue;
      if (names.empty()) names = operation_names(graph);
      writers_.push_back({&operation, &program[operation.op],
                          static_cast<std::uint32_t>(found - operation.results.begin()), names[o]});
    }
  }

  std::string why_not(std::string_view requested) const {
    if (writers_.size() < 2) return "";
    std::vector<BlockPlacement> placements;
    std::vector<Writer> writers = writers_;
    std::stable_partition(writers.begin(), writers.end(),
                          [&](const Writer& writer) { return requested.ends_with(writer.name); });
    for (const Writer& writer : writers)
      for (const BlockPlacement& p : writer.operation->placements)
        if (on_devices(p) && std::count(placements.begin(), placements.end(), without_dim(p)) == 0)
          placements.push_back(without_dim(p));
    if (Box::of_shape(shape_).empty()) return "";
    for (const BlockPlacement& placement : placements)
      if (std::string why = why_not_along(placement); !why.empty()) return why;
    return "";
  }

 private:
  std::string why_not_along(const BlockPlacement& placement) const {
    std::vector<std::vector<Box>> written;  // by block
    for (const Writer& writer : writers_) {
      if (written_region(*writer.op, writer.result, writer.op->box()).empty()) continue;
      if (!add_blocks(writer, placement, written))
        return fmt::format("`{}` also writes a part of `{}` and is not split over {}", writer.name, name_,
                           text(placement));
    }
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      if (in_order(written, axis)) return "";
    return fmt::format(
        "several operations write `{}`, and the part of one device would not be a box: their blocks over {} must end "
        "at the same cells",
        name_, text(placement));
  }

  std::string text(const BlockPlacement& placement) const {
    if (!placement.axis) return "devices " + ir::to_string(placement.devices);
    const Mesh& mesh = program_[placement.mesh];
    return fmt::format("`{}.{}`", mesh.name, to_string(mesh, *placement.axis));
  }

  // Whether the blocks are placed; and what each of them writes.
  static bool add_blocks(const Writer& writer, const BlockPlacement& placement,
                         std::vector<std::vector<Box>>& written) {
    bool is_placed = false;
    for (const BlockPlacement& p : writer.operation->placements) {
      if (!on_devices(p) || without_dim(p) != placement) continue;
      if (is_placed) return false;
      is_placed = true;
      const Range blocks = p.dim == whole_operation ? Range{p.number, p.number + 1} : writer.op->dims[p.dim].range;
      if (blocks.hi > static_cast<std::int64_t>(written.size())) written.resize(static_cast<std::size_t>(blocks.hi));
      for (std::int64_t b = blocks.lo; b < blocks.hi; ++b) {
        Box box = writer.op->box();
        if (p.dim != whole_operation) box.dims[p.dim] = {b, b + 1};
        box = narrowed(*writer.op, std::move(box));
        bool runs = true;
        for (std::size_t d = 0; d < box.rank(); ++d)
          runs &= writer.op->dims[d].role != DimRole::parallel || !box.dims[d].empty();
        Box region = written_region(*writer.op, writer.result, box);
        if (runs && !region.empty()) written[static_cast<std::size_t>(b)].push_back(std::move(region));
      }
    }
    return is_placed;
  }

  static bool in_order(const std::vector<std::vector<Box>>& written, std::size_t axis) {
    std::int64_t reached = 0;
    for (const std::vector<Box>& block : written) {
      std::int64_t next = reached;
      for (const Box& box : block) {
        if (box.dims[axis].lo < reached) return false;
        next = std::max(next, box.dims[axis].hi);
      }
      reached = next;
    }
    return true;
  }

  const Program& program_;
  const Shape& shape_;
  const std::string& name_;
  std::vector<Writer> writers_;
};

}  // namespace

std::string why_no_boxes(const Program& program, const Graph& graph, ValueId value, std::string_view operation) {
  return WrittenTogether(program, graph, value).why_not(operation);
}

}  // namespace tap::passes
