#include "passes/splits/expand_device.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/graphs/iterate_state.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "passes/splits/expand.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

using Coordinates = std::vector<std::int64_t>;  // along the axes that an operation is placed on

// The positions of a mesh as numbers with digits: those of an operation's axes, and the others, along which it is
// replicated.
class MeshDigits {
 public:
  MeshDigits(const Mesh& mesh, const std::vector<AxisRef>& placed) {
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      std::vector<std::pair<SubAxis, std::size_t>> parts;
      for (std::size_t k = 0; k < placed.size(); ++k)
        if (placed[k].id == AxisId(a)) parts.emplace_back(digit(mesh, placed[k]), k);
      std::sort(parts.begin(), parts.end(),
                [](const auto& a, const auto& b) { return a.first.pre_size < b.first.pre_size; });
      std::int64_t above = 1;
      for (const auto& [part, number] : parts) {
        add_free(part.pre_size / above);
        digits_.push_back({part.size, number});
        above = part.pre_size * part.size;
      }
      add_free(mesh.axes[a].size / above);
    }
  }

  std::int64_t replicas() const { return replicas_; }
  // Ascending in `replica`.
  std::int64_t index(const Coordinates& coordinates, std::int64_t replica) const {
    std::int64_t index = 0, stride = 1;
    for (auto d = digits_.rbegin(); d != digits_.rend(); ++d) {
      index += stride * (d->placed ? coordinates[*d->placed] : replica % d->size);
      if (!d->placed) replica /= d->size;
      stride *= d->size;
    }
    return index;
  }
  // The number of the position among the replicas of its coordinates.
  std::int64_t replica(std::int64_t index) const {
    std::int64_t replica = 0, stride = 1;
    for (auto d = digits_.rbegin(); d != digits_.rend(); ++d) {
      if (!d->placed) replica += stride * (index % d->size), stride *= d->size;
      index /= d->size;
    }
    return replica;
  }

 private:
  struct Digit {
    std::int64_t size;
    std::optional<std::size_t> placed;
  };
  void add_free(std::int64_t size) {
    if (size > 1) digits_.push_back({size, {}});
    replicas_ *= size;
  }
  std::vector<Digit> digits_;  // major to minor
  std::int64_t replicas_ = 1;
};

// A box of a value, and its holders, by position in the mesh: all replicas of some coordinates.
struct Piece {
  Box box;
  std::vector<Coordinates> coordinates;
};

class DeviceExpander {
 public:
  DeviceExpander(const Program& program, GraphId id, std::int64_t device)
      : program_(program), graph_(program[id]), device_(device), writers_(graph_.values.size()) {
    result_.graph = id;
  }

  BlockGraph run() {
    inputs();
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      expand(OperationId(o));
      for (std::uint32_t k = 0; k < graph_.operations[o].results.size(); ++k)
        writers_[graph_.operations[o].results[k].index()].emplace_back(OperationId(o), k);
    }
    for (ValueId v : graph_.outputs) {
      result_.outputs.emplace_back();
      for (std::int64_t d : {device_, everywhere})
        if (auto it = by_device_.find({v, d}); it != by_device_.end()) result_.outputs.back().push_back(it->second);
    }
    return std::move(result_);
  }

 private:
  // A trip's state is where the previous trip leaves it.
  void inputs() {
    const std::vector<ValueId> left = trip_results(program_, result_.graph);
    for (ValueId v : graph_.inputs) {
      for (std::size_t o = 0; o < graph_.operations.size() && left[v.index()] != v; ++o) {
        const Operation& operation = graph_.operations[o];
        const Mesh* mesh = mesh_of(program_, operation);
        for (std::uint32_t k = 0; k < operation.results.size() && mesh; ++k)
          if (operation.results[k] == left[v.index()]) input_of(v, OperationId(o), k, *mesh);
      }
      if (writers_[v.index()].empty())
        result_.inputs.push_back(add_held(v, everywhere, Box::of_shape(graph_[v].type.shape)));
    }
  }
  void input_of(ValueId v, OperationId o, std::uint32_t result, const Mesh& mesh) {
    writers_[v.index()].emplace_back(o, result);
    const std::int64_t index = index_in_mesh(mesh, device_);
    if (index < 0) return;
    const Operator& op = program_[graph_[o].op];
    const Box box = box_at(op, graph_[o], coordinates_of(mesh, graph_[o], index));
    if (has_no_block(op, box) && graph_[v].type.shape.empty()) return;
    result_.inputs.push_back(add_held(v, device_, held_box(graph_[o], result, box)));
  }

  void expand(OperationId o) {
    const Operation& operation = graph_[o];
    const Operator& op = program_[operation.op];
    const Mesh* mesh = mesh_of(program_, operation);
    if (!mesh) return op.transfer() ? move_to(o, everywhere, op.box()) : apply_on(o, everywhere, op.box());
    for (std::int64_t index : {index_in_mesh(*mesh, device_)}) {
      if (index < 0) continue;
      const Box box = box_at(op, operation, coordinates_of(*mesh, operation, index));
      op.transfer() ? move_to(o, device_, box) : apply_on(o, device_, box);
    }
  }

  static std::vector<BlockPlacement> placed_on_axes(const Operation& operation) {
    std::vector<BlockPlacement> placed;
    for (const BlockPlacement& p : operation.placements)
      if (p.axis) placed.push_back(p);
    return placed;
  }
  static Coordinates coordinates_of(const Mesh& mesh, const Operation& operation, std::int64_t index) {
    const std::vector<std::int64_t> position = position_of(mesh, index);
    Coordinates coordinates;
    for (const BlockPlacement& p : placed_on_axes(operation))
      coordinates.push_back(coordinate(mesh, position, *p.axis));
    return coordinates;
  }
  // Negative coordinates are unknown.
  static Box box_at(const Operator& op, const Operation& operation, const Coordinates& coordinates) {
    Box box = op.box();
    std::size_t k = 0;
    for (const BlockPlacement& p : placed_on_axes(operation))
      if (const std::int64_t at = coordinates[k++]; at >= 0)
        box.dims[p.dim] = intersect(box.dims[p.dim], Range{at, at + 1});
    return narrowed(op, std::move(box));
  }

  // The box of a result that a device holds after running the operation on that box; empty for a 0-d value that an
  // empty block does not write.
  Box held_box(const Operation& operation, std::uint32_t result, const Box& box) const {
    const Operator& op = program_[operation.op];
    if (op.transfer()) return read_region(op, 0, box);
    const Shape& shape = graph_[operation.results[result]].type.shape;
    const bool whole = op.region() && op.region()->kind != RegionKind::group;
    return whole ? Box::of_shape(shape) : written_region(op, result, box);
  }
  static bool has_no_block(const Operator& op, const Box& box) {
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (op.dims[d].role == DimRole::parallel && box.dims[d].empty()) return true;
    return false;
  }

  void apply_on(OperationId o, std::int64_t device, const Box& box) {
    const Operation& operation = graph_[o];
    const Operator& op = program_[operation.op];
    Application common{o, device, {}, {}, {}};
    for (ValueId v : operation.operands) common.operands.push_back(find(v, device));
    bool writes_all = true;
    for (std::uint32_t k = 0; k < operation.results.size(); ++k) {
      if (has_no_block(op, box) && graph_[operation.results[k]].type.shape.empty()) writes_all = false;
      else common.results.push_back(add_held(operation.results[k], device, held_box(operation, k, box)));
    }
    if (!writes_all) return;
    common.box = box;
    for (Task& task : applications(op, operation, std::move(common))) result_.tasks.push_back(std::move(task));
  }

  HeldId find(ValueId v, std::int64_t device) {
    for (std::int64_t d : {device, everywhere})
      if (auto it = by_device_.find({v, d}); it != by_device_.end()) return it->second;
    return add_held(v, device, Box::of_shape(graph_[v].type.shape));
  }
  HeldId add_held(ValueId v, std::int64_t device, const Box& box) {
    auto [it, fresh] = by_device_.try_emplace({v, device}, HeldId(result_.held.size()));
    if (fresh) {
      result_.held.push_back({v, device, box});
    } else {
      Box& held = result_.held[it->second.index()].box;
      held = hull(held, box);
    }
    return it->second;
  }

  // A device takes what it needs from itself if it can, else from the holders of each part in turn.
  void move_to(OperationId o, std::int64_t device, const Box& box) {
    const Operation& operation = graph_[o];
    const ValueId source = operation.operands[0];
    const Box need = read_region(program_[operation.op], 0, box);
    const HeldId to = add_held(operation.results[0], device, need);
    std::vector<Box> left = read_pieces(program_[operation.op], 0, box);
    auto take = [&](HeldId from) {
      std::vector<Move> moves;
      std::vector<Box> rest;
      for (const Box& part : left) {
        Box common = intersect(part, result_[from].box);
        if (!common.empty()) moves.push_back({o, from, to, common});
        for (Box& piece : subtract(part, result_[from].box)) rest.push_back(std::move(piece));
      }
      left = std::move(rest);
      return moves;
    };
    auto list = [&](std::vector<Move> moves) {
      for (Move& move : moves) result_.tasks.emplace_back(std::move(move));
    };
    // Its own boxes are used in their turn among the others.
    const auto own = by_device_.find({source, device});
    std::vector<Move> of_its_own;
    if (own != by_device_.end()) of_its_own = take(own->second);
    if (auto all = by_device_.find({source, everywhere}); all != by_device_.end()) list(take(all->second));
    auto take_piece = [&](const Box& piece, auto holder) {
      if (!of_its_own.empty() && piece == result_[own->second].box) return list(std::exchange(of_its_own, {}));
      if (std::ranges::any_of(left, [&](const Box& part) { return !disjoint(part, piece); }))
        list(take(add_held(source, holder(), piece)));
    };
    for (const auto& [writer, result] : writers_[source.index()])
      if (!left.empty()) take_of(source, writer, result, device, need, take_piece);
    list(std::move(of_its_own));
    TAP_CHECK(left.empty(), "no device holds a part of a transfer");
  }

  template <class Take>
  void take_of(ValueId source, OperationId writer, std::uint32_t result, std::int64_t device, const Box& need,
               Take take) {
    const Operation& operation = graph_[writer];
    const Mesh* mesh = mesh_of(program_, operation);
    if (!mesh) return;
    std::vector<AxisRef> axes;
    for (const BlockPlacement& p : placed_on_axes(operation)) axes.push_back(*p.axis);
    const MeshDigits digits(*mesh, axes);
    const std::int64_t number = number_of(source, device, operation, result, *mesh, axes, digits);
    for (const Piece& piece : pieces_in(need, operation, result, *mesh, axes, digits))
      take(piece.box, [&] {
        const auto holders = digits.replicas() * static_cast<std::int64_t>(piece.coordinates.size());
        return device_at(*mesh, holder(piece, digits, number % holders));
      });
  }

  // The device's number among the holders of the same box of the value; if it holds nothing, an arbitrary one.
  std::int64_t number_of(ValueId source, std::int64_t device, const Operation& operation, std::uint32_t result,
                         const Mesh& mesh, const std::vector<AxisRef>& axes, const MeshDigits& digits) const {
    const auto own = by_device_.find({source, device});
    if (own == by_device_.end() || result_[own->second].box.empty()) return std::max<std::int64_t>(device, 0);
    const Box& box = result_[own->second].box;
    const std::int64_t index = index_in_mesh(mesh, device);
    for (const Piece& piece : pieces_in(box, operation, result, mesh, axes, digits)) {
      if (!(piece.box == box)) continue;
      if (piece.coordinates.size() == 1) return digits.replica(index);
      std::int64_t before = 0;
      for (const Coordinates& coordinates : piece.coordinates)
        for (std::int64_t k = 0; k < digits.replicas(); ++k) before += digits.index(coordinates, k) < index;
      return before;
    }
    return std::max<std::int64_t>(device, 0);
  }

  // The holders in the order of their positions.
  static std::int64_t holder(const Piece& piece, const MeshDigits& digits, std::int64_t number) {
    if (piece.coordinates.size() == 1) return digits.index(piece.coordinates[0], number);
    std::vector<std::int64_t> all;
    for (const Coordinates& coordinates : piece.coordinates)
      for (std::int64_t k = 0; k < digits.replicas(); ++k) all.push_back(digits.index(coordinates, k));
    std::nth_element(all.begin(), all.begin() + number, all.end());
    return all[static_cast<std::size_t>(number)];
  }

  // The boxes of the result that overlap the needed box, ordered by first holder.
  std::vector<Piece> pieces_in(const Box& need, const Operation& operation, std::uint32_t result, const Mesh& mesh,
                               const std::vector<AxisRef>& axes, const MeshDigits& digits) const {
    const Operator& op = program_[operation.op];
    auto reaches = [&](const Coordinates& at) {
      const Box box = held_box(operation, result, box_at(op, operation, at));
      return !box.empty() && !disjoint(box, need);
    };
    std::vector<Coordinates> candidates{Coordinates(axes.size(), -1)};
    for (std::size_t k = 0; k < axes.size(); ++k) {
      std::vector<Coordinates> longer;
      for (Coordinates at : candidates)
        for (at[k] = 0; at[k] < size_of(mesh, axes[k]); ++at[k])
          if (reaches(at)) longer.push_back(at);
      candidates = std::move(longer);
    }
    std::map<std::int64_t, Coordinates> in_order;
    for (Coordinates& at : candidates) in_order.emplace(digits.index(at, 0), std::move(at));
    std::vector<Piece> pieces;
    std::map<std::vector<std::pair<std::int64_t, std::int64_t>>, std::size_t> seen;
    for (auto& [index, at] : in_order) {
      Box box = held_box(operation, result, box_at(op, operation, at));
      std::vector<std::pair<std::int64_t, std::int64_t>> key;
      for (Range r : box.dims) key.emplace_back(r.lo, r.hi);
      auto [known, fresh] = seen.emplace(std::move(key), pieces.size());
      if (fresh) pieces.push_back({std::move(box), {}});
      pieces[known->second].coordinates.push_back(std::move(at));
    }
    return pieces;
  }

  const Program& program_;
  const Graph& graph_;
  std::int64_t device_;
  BlockGraph result_;
  std::vector<std::vector<std::pair<OperationId, std::uint32_t>>> writers_;  // by value, so far
  std::map<std::pair<ValueId, std::int64_t>, HeldId> by_device_;
};

// For a value of several writers over a mesh, a device holds the hull of its writes, so pieces do not belong to one
// writer.
bool has_writers_together(const Program& program, const Graph& graph) {
  std::vector<int> writers(graph.values.size()), over_mesh(graph.values.size());
  for (const Operation& operation : graph.operations)
    for (ValueId v : operation.results) {
      ++writers[v.index()];
      over_mesh[v.index()] += mesh_of(program, operation) != nullptr;
    }
  for (std::size_t v = 0; v < writers.size(); ++v)
    if (writers[v] > 1 && over_mesh[v] > 0) return true;
  return false;
}

// Listed devices are few, and an operation placed as a whole is not found along mesh axes.
bool lists_devices(const Graph& graph) {
  return std::any_of(graph.operations.begin(), graph.operations.end(), [](const Operation& operation) {
    return std::any_of(operation.placements.begin(), operation.placements.end(), [](const BlockPlacement& p) {
      return p.placement == Placement::devices || p.dim == whole_operation;
    });
  });
}

}  // namespace

BlockProgram expand_device(const Program& program, std::int64_t device) {
  for (const Graph& graph : program.graphs)
    if (lists_devices(graph) || has_writers_together(program, graph)) return expand(program, device);
  BlockProgram result{program, {}};
  const std::vector<bool> never = never_run(program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g)
    result.graphs.push_back(never[g] ? without_tasks(program, GraphId(g))
                                     : DeviceExpander(program, GraphId(g), device).run());
  return result;
}

}  // namespace tap::passes
