#include "compiler/driver/show/report_moves.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "support/checked.h"

namespace tap::driver {
namespace {

using Boxes = std::vector<ir::Box>;  // disjoint

constexpr std::int64_t most_devices = 64;

void add_cells(Boxes& boxes, const ir::Box& box) {
  Boxes parts{box};
  for (const ir::Box& known : boxes) {
    Boxes left;
    for (const ir::Box& part : parts)
      for (ir::Box& rest : subtract(part, known)) left.push_back(std::move(rest));
    parts = std::move(left);
  }
  for (ir::Box& part : parts)
    if (!part.empty()) boxes.push_back(std::move(part));
}

Boxes without_cells(Boxes boxes, const Boxes& others) {
  for (const ir::Box& other : others) {
    Boxes left;
    for (const ir::Box& box : boxes)
      for (ir::Box& rest : subtract(box, other))
        if (!rest.empty()) left.push_back(std::move(rest));
    boxes = std::move(left);
  }
  return boxes;
}

std::int64_t cells_of(const Boxes& boxes) {
  std::int64_t cells = 0;
  for (const ir::Box& box : boxes) cells += box.size();
  return cells;
}

class Transfer {
 public:
  Transfer(const ir::Program& program, const ir::Graph& graph, const ir::DefUse& uses, const ir::Operation& transfer)
      : program_(program),
        graph_(graph),
        transfer_{&transfer, ir::DeviceAssignment(program, transfer)},
        op_(program[transfer.op]) {
    if (transfer.operands.empty()) return;
    value_ = transfer.operands[0];
    for (ir::OperationId writer : uses.writers[value_->index()]) {
      writers_.push_back({&graph[writer], ir::DeviceAssignment(program, graph[writer])});
      if (!mesh_) mesh_ = ir::mesh_of(program, graph[writer]);
    }
    if (const ir::Mesh* own = ir::mesh_of(program, transfer)) mesh_ = own;
    if (const auto& sharding = graph[*value_].sharding; !mesh_ && sharding) mesh_ = &program[sharding->mesh];
  }

  MovedBytes moved() const {
    MovedBytes moved{.kind = op_.name};
    if (!value_ || !mesh_) return moved;
    moved.all_devices = ir::device_count(*mesh_);
    moved.devices = std::min(moved.all_devices, most_devices);
    std::vector<bool> crossed(mesh_->axes.size());
    for (std::int64_t at = 0; at < moved.devices; ++at) {
      const Boxes missing = without_cells(needed(at), held(at));
      if (missing.empty()) continue;
      moved.bytes = std::max(moved.bytes, checked::mul(cells_of(missing), element_bytes()));
      for (std::size_t axis = 0; axis < crossed.size(); ++axis)
        if (!crossed[axis]) crossed[axis] = comes_over(axis, at, missing);
    }
    for (std::size_t axis = 0; axis < crossed.size(); ++axis)
      if (crossed[axis]) moved.axes.push_back(mesh_->axes[axis].name);
    return moved;
  }

 private:
  std::int64_t element_bytes() const { return static_cast<std::int64_t>(size_of(graph_[*value_].type.element)); }
  ir::Box whole() const { return ir::Box::of_shape(graph_[*value_].type.shape); }

  struct Placed {
    const ir::Operation* operation;
    ir::DeviceAssignment on;
  };

  // All of its index space, if it is on no particular device.
  std::optional<ir::Box> points(const Placed& placed, std::int64_t at) const {
    const ir::Operator& op = program_[placed.operation->op];
    if (placed.on.is_replicated()) return op.box();
    const std::int64_t device = ir::device_at(*mesh_, at), count = placed.on.count();
    if (at < count && placed.on.device(at) == device) return placed.on.box(op, at);  // usually on this mesh
    for (std::int64_t position = 0; position < count; ++position)
      if (placed.on.device(position) == device) return placed.on.box(op, position);
    return std::nullopt;
  }

  Boxes needed(std::int64_t at) const {
    Boxes boxes;
    const std::optional<ir::Box> box = points(transfer_, at);
    if (!box || box->empty()) return boxes;
    for (const ir::Access& read : op_.reads) add_cells(boxes, intersect(read.projection.bounds(*box), whole()));
    return boxes;
  }

  const Boxes& held(std::int64_t at) const {
    auto [known, fresh] = held_.try_emplace(at);
    if (fresh) known->second = find_held(at);
    return known->second;
  }

  Boxes find_held(std::int64_t at) const {
    Boxes boxes;
    for (const Placed& writer : writers_) {
      const std::optional<ir::Box> box = points(writer, at);
      if (!box || box->empty()) continue;
      const ir::Operator& op = program_[writer.operation->op];
      for (const ir::Access& write : op.writes)
        if (writer.operation->results[write.tensor] == *value_)
          add_cells(boxes, intersect(write.projection.bounds(*box), whole()));
    }
    if (!writers_.empty()) return boxes;
    const ir::Value& value = graph_[*value_];
    const bool here = value.sharding && &program_[value.sharding->mesh] == mesh_;
    return {here ? ir::box_at(*mesh_, *value.sharding, value.type.shape, at) : whole()};
  }

  // Whether a device that differs only along this axis holds a part of what is missing.
  bool comes_over(std::size_t axis, std::int64_t at, const Boxes& missing) const {
    std::int64_t stride = 1;
    for (std::size_t minor = axis + 1; minor < mesh_->axes.size(); ++minor) stride *= mesh_->axes[minor].size;
    const std::int64_t size = mesh_->axes[axis].size, own = at / stride % size;
    for (std::int64_t other = 0; other < std::min(size, most_devices); ++other) {
      if (other == own) continue;
      for (const ir::Box& there : held(at + (other - own) * stride))
        for (const ir::Box& box : missing)
          if (!disjoint(there, box)) return true;
    }
    return false;
  }

  const ir::Program& program_;
  const ir::Graph& graph_;
  const Placed transfer_;
  const ir::Operator& op_;
  std::optional<ir::ValueId> value_;
  std::vector<Placed> writers_;
  mutable std::map<std::int64_t, Boxes> held_;  // by position in the mesh
  const ir::Mesh* mesh_ = nullptr;
};

}  // namespace

MovedBytes moved_bytes(const ir::Program& program, const ir::Graph& graph, const ir::DefUse& uses,
                       const ir::Operation& transfer) {
  return Transfer(program, graph, uses, transfer).moved();
}

}  // namespace tap::driver
