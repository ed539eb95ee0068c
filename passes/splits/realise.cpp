#include "passes/splits/realise.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/graphs/iterate_state.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "passes/splits/read_groups.h"
#include "passes/splits/transfer_space.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

// A dim split over devices, or a dim whose points are placed one by one (then without blocks).
struct DimSplit {
  BlockPlacement placement;    // without its dim
  std::vector<Blocks> blocks;  // the last one splits the blocks of the earlier ones
  Range of;
  bool operator==(const DimSplit&) const = default;
};

bool runs_on_devices(const Operation& operation) {
  return std::any_of(operation.placements.begin(), operation.placements.end(), on_devices);
}

std::vector<DimSplit> dim_splits_of(const Operator& op, const Operation& operation, std::uint32_t dim) {
  std::vector<DimSplit> splits;
  for (const BlockPlacement& p : operation.placements)
    if (on_devices(p) && p.dim == dim) splits.push_back({without_dim(p), {}, op.dims[dim].range});
  std::vector<Blocks> blocks;
  for (const Blocking& b : op.blockings) {
    if (b.dim != dim) continue;
    blocks.push_back(b.blocks);
    for (const BlockPlacement& p : operation.placements)
      if (on_devices(p) && p.dim == b.block_dim) splits.push_back({without_dim(p), blocks, op.dims[dim].range});
  }
  return splits;
}

// What devices hold, or need, along one axis of a tensor.
struct AxisSharding {
  std::vector<DimSplit> splits;  // none: all devices have the same
  bool one_to_one = true;        // a split dim's coordinate is the axis's
};
AxisSharding along(const Operator& op, const Operation& operation, const Access& access, std::size_t axis) {
  const AffineExpr& row = access.projection.start.rows[axis];
  AxisSharding result;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
    if (row.coefficients[d] == 0) continue;
    std::vector<DimSplit> splits = dim_splits_of(op, operation, d);
    result.splits.insert(result.splits.end(), splits.begin(), splits.end());
  }
  result.one_to_one = row.as_variable().has_value() && access.projection.shape[axis] == 1;
  return result;
}

// Whether every device that runs the consumer also runs the producer, considering only dims that the write does not
// use: every block writes a result that does not depend on them, but a device without a block writes nothing.
bool runs_where_needed(const Operator& p, const Operation& producer, const Access& from, const Operator& c,
                       const Operation& consumer) {
  auto is_indexed = [&](std::uint32_t dim) {
    const auto& rows = from.projection.start.rows;
    return std::any_of(rows.begin(), rows.end(), [&](const AffineExpr& row) { return row.coefficients[dim] != 0; });
  };
  for (const BlockPlacement& placed : producer.placements) {
    bool covered = !on_devices(placed);
    if (placed.dim == whole_operation)
      covered |= std::count(consumer.placements.begin(), consumer.placements.end(), placed) > 0;
    else covered |= is_indexed(placed.dim);
    for (const Blocking& b : p.blockings) covered |= b.block_dim == placed.dim && is_indexed(b.dim);
    for (const Blocking& b : p.blockings) {
      if (covered || b.block_dim != placed.dim) continue;
      // For an empty value, a row may have lost the dim; that does not make the result independent of it.
      if (std::count(from.invariant_dims.begin(), from.invariant_dims.end(), b.dim) == 0) continue;
      auto constrains = [&](const Constraint& constraint) { return constraint.expr.coefficients[b.dim] != 0; };
      if (std::any_of(p.constraints.begin(), p.constraints.end(), constrains)) continue;
      for (const DimSplit& mine : dim_splits_of(p, producer, b.dim))
        for (std::uint32_t d = 0; d < c.dims.size() && mine.placement == without_dim(placed); ++d)
          for (const DimSplit& its : dim_splits_of(c, consumer, d)) covered |= its == mine;
    }
    if (!covered) return false;
  }
  return true;
}

}  // namespace

bool held_where_read(const Program& program, const Graph&, const Operation& producer, std::uint32_t write,
                     const Operation& consumer, std::uint32_t read) {
  const Operator &p = program[producer.op], &c = program[consumer.op];
  const Access &from = p.writes[write], &to = c.reads[read];
  for (std::size_t axis = 0; axis < from.projection.rank(); ++axis) {
    AxisSharding held = along(p, producer, from, axis);
    if (held.splits.empty()) continue;
    AxisSharding required = along(c, consumer, to, axis);
    if (!held.one_to_one || !required.one_to_one || held.splits != required.splits) return false;
  }
  return runs_where_needed(p, producer, from, c, consumer);
}

namespace {

class Realiser {
 public:
  Realiser(Program& program, Interner& interner, GraphId id)
      : program_(program),
        interner_(interner),
        before_(program[id]),
        after_(before_),
        uses_(def_use(before_)),
        left_(trip_results(program, id)) {
    after_.operations.clear();
    claim_.after = claim_.before = id;
    for (std::size_t v = 0; v < before_.values.size(); ++v) claim_.values.push_back(ValueRef{{}, ValueId(v)});
    for (const Value& value : before_.values) names_.insert(value.name);
  }

  GraphClaim run(bool& changed) {
    for (std::size_t o = 0; o < before_.operations.size(); ++o) {
      Operation operation = before_.operations[o];
      group_reads(operation);
      for (std::uint32_t k = 0; k < operation.operands.size(); ++k)
        if (needs_transfer(operation, k)) operation.operands[k] = transfer(operation, k);
      after_.operations.push_back(std::move(operation));
      claim_.operations.push_back(Copied{{{}, OperationId(o)}});
    }
    changed = after_.operations.size() != before_.operations.size();
    program_.graphs[claim_.after.index()] = std::move(after_);
    return std::move(claim_);
  }

 private:
  // Reads of a moved value that are far apart on a device get separate memory.
  void group_reads(Operation& operation) {
    for (std::uint32_t k = 0, given = static_cast<std::uint32_t>(operation.operands.size()); k < given; ++k) {
      if (!needs_transfer(operation, k)) continue;
      const auto groups = nearby_reads(program_, operation, k);
      if (groups.size() < 2) continue;
      const ValueId value = operation.operands[k];
      operation.operands.insert(operation.operands.end(), groups.size() - 1, value);
      if (!operation.operand_shardings.empty()) operation.operand_shardings.resize(operation.operands.size());
      interner_.assign(operation, with_operands_for(with_author_names(program_, operation), k, groups));
    }
  }

  bool needs_transfer(const Operation& consumer, std::uint32_t operand) const {
    const ValueId value = left_[consumer.operands[operand].index()];
    const std::vector<OperationId>& writers = uses_.writers[value.index()];
    bool spread =
        std::any_of(writers.begin(), writers.end(), [&](OperationId w) { return runs_on_devices(before_[w]); });
    if (!spread) return false;
    if (writers.size() > 1 || !same_devices(before_[writers[0]], consumer)) return true;
    const Operation& producer = before_[writers[0]];
    const Operator &p = program_[producer.op], &c = program_[consumer.op];
    if (p.writes.empty() || c.reads.empty()) return true;
    for (std::uint32_t r = 0; r < c.reads.size(); ++r) {
      if (c.reads[r].tensor != operand) continue;
      for (std::uint32_t w = 0; w < p.writes.size(); ++w)
        if (producer.results[p.writes[w].tensor] == value &&
            !held_where_read(program_, before_, producer, w, consumer, r))
          return true;
    }
    return false;
  }

  // Both on one mesh, or both on lists of devices.
  static bool same_devices(const Operation& a, const Operation& b) {
    auto where = [](const Operation& o) {
      for (const BlockPlacement& p : o.placements)
        if (on_devices(p)) return std::pair(p.placement, p.mesh);
      return std::pair(Placement::unspecified, MeshId());
    };
    return where(a) == where(b);
  }

  // The consumer's accesses of that operand as a transfer, placed like the consumer. Consumers with equal needs share
  // one.
  ValueId transfer(const Operation& consumer, std::uint32_t operand) {
    ValueId source = consumer.operands[operand];
    Operation operation{{}, {source}, {}, {}};
    Operator copy = transfer_of(program_[consumer.op], operand, before_[source].type);
    copy.name = exchanges_halos(consumer, operand) ? "halo_exchange" : collective_of(consumer, operand);
    std::vector<BlockPlacement> placements;
    for (const BlockPlacement& p : consumer.placements)
      if (on_devices(p)) placements.push_back(p);
    TransferSpace space = smallest_space(std::move(copy), std::move(placements));
    interner_.assign(operation, std::move(space.op));
    operation.placements = std::move(space.placements);
    for (std::size_t o : made_) {
      const Operation& made = after_.operations[o];
      if (made.op == operation.op && made.operands == operation.operands && made.placements == operation.placements)
        return made.results[0];
    }
    made_.push_back(after_.operations.size());
    operation.results = {add_value(before_[source])};
    after_.operations.push_back(std::move(operation));
    claim_.operations.push_back(TransferOf{});
    return after_.operations.back().results[0];
  }

  // Each device has its own blocks, and lacks the cells around them: windows, and reads of a neighbour.
  bool exchanges_halos(const Operation& consumer, std::uint32_t operand) const {
    const ValueId value = left_[consumer.operands[operand].index()];
    const std::vector<OperationId>& writers = uses_.writers[value.index()];
    if (writers.size() > 1 || !same_devices(before_[writers[0]], consumer)) return false;
    const Operation& producer = before_[writers[0]];
    const Operator &p = program_[producer.op], &c = program_[consumer.op];
    auto alike = [&](const Access& write, const Access& read, std::size_t axis) {
      const AxisSharding held = along(p, producer, write, axis), required = along(c, consumer, read, axis);
      const AffineExpr& row = read.projection.start.rows[axis];
      for (std::uint32_t d = 0; d < c.dims.size(); ++d)
        if (row.coefficients[d] != 0 && row.coefficients[d] != 1 && !dim_splits_of(c, consumer, d).empty())
          return false;
      return held.splits == required.splits && (held.splits.empty() || held.one_to_one);
    };
    for (const Access& read : c.reads)
      for (const Access& write : p.writes) {
        if (read.tensor != operand || producer.results[write.tensor] != value) continue;
        for (std::size_t axis = 0; axis < write.projection.rank(); ++axis)
          if (!alike(write, read, axis)) return false;
        if (!runs_where_needed(p, producer, write, c, consumer)) return false;
      }
    return !c.reads.empty() && !p.writes.empty();
  }

  // The collective that the transfer is, for people: by the axes along which devices hold parts before and after it. An
  // all-reduce is a round of exchanges within groups, or the reduce-scatter and the all-gather of slices.
  std::string collective_of(const Operation& consumer, std::uint32_t operand) const {
    const ValueId value = left_[consumer.operands[operand].index()];
    const std::vector<OperationId>& writers = uses_.writers[value.index()];
    const bool elsewhere = runs_on_devices(consumer) && !same_devices(before_[writers[0]], consumer);
    if (writers.size() > 1 || elsewhere) return "transfer";
    const Operation& producer = before_[writers[0]];
    const Operator &p = program_[producer.op], &c = program_[consumer.op];
    bool gathers = false, splits = false, reduces = false, in_groups = true;
    for (const Access& read : c.reads)
      for (const Access& write : p.writes) {
        if (read.tensor != operand || producer.results[write.tensor] != value) continue;
        for (std::size_t axis = 0; axis < write.projection.rank(); ++axis) {
          const AxisSharding held = along(p, producer, write, axis), required = along(c, consumer, read, axis);
          auto is_unclear = [](const AxisSharding& one) { return !one.splits.empty() && !one.one_to_one; };
          if (is_unclear(held) || is_unclear(required)) return "transfer";
          const bool fewer = is_prefix(required.splits, held.splits), more = is_prefix(held.splits, required.splits);
          gathers |= !more;
          splits |= !fewer;
          reduces |= !more && is_reduced_along(c, read, axis);
          in_groups &= (more && fewer) || (is_reduced_along(c, read, axis) && are_partials_of_group(held, required));
        }
      }
    if (!gathers) return "transfer";
    return in_groups ? "all_reduce_round" : !splits ? "all_gather" : reduces ? "reduce_scatter" : "all_to_all";
  }
  // Whether each device has one partial, and then those of the devices that differ from it in the minor part of the axis.
  bool are_partials_of_group(const AxisSharding& held, const AxisSharding& required) const {
    if (held.splits.size() != 1 || !held.splits[0].placement.axis || !held.splits[0].blocks.empty()) return false;
    const BlockPlacement& one = held.splits[0].placement;
    const Mesh& mesh = program_[one.mesh];
    const std::int64_t partials = held.splits[0].of.size();
    if (partials > size_of(mesh, *one.axis)) return false;
    if (required.splits.empty()) return true;
    const DimSplit& groups = required.splits[0];
    return partials == size_of(mesh, *one.axis) && required.splits.size() == 1 && groups.placement.axis &&
           groups.placement.mesh == one.mesh && ir::is_prefix(mesh, *groups.placement.axis, *one.axis) &&
           groups.blocks == std::vector{Blocks{size_of(mesh, *groups.placement.axis)}};
  }
  static bool is_prefix(const std::vector<DimSplit>& prefix, const std::vector<DimSplit>& all) {
    return prefix.size() <= all.size() && std::equal(prefix.begin(), prefix.end(), all.begin());
  }
  static bool is_reduced_along(const Operator& op, const Access& read, std::size_t axis) {
    const AffineExpr& row = read.projection.start.rows[axis];
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (row.coefficients[d] != 0 && op.dims[d].role == DimRole::reduction) return true;
    return false;
  }

  ValueId add_value(Value value) {
    std::string base = value.name + ".moved";
    value.name = base;
    for (int n = 2; !names_.insert(value.name).second; ++n) value.name = base + std::to_string(n);
    value.is_const = false;
    value.sharding.reset();
    after_.values.push_back(std::move(value));
    claim_.values.push_back(std::nullopt);
    return ValueId(after_.values.size() - 1);
  }

  Program& program_;
  Interner& interner_;
  const Graph before_;
  Graph after_;
  DefUse uses_;
  const std::vector<ValueId> left_;  // by value: for a state, the value that the previous trip leaves
  GraphClaim claim_;
  std::set<std::string> names_;
  std::vector<std::size_t> made_;  // transfers, by number in the graph
};

}  // namespace

RealiseResult realise(const Program& program) {
  RealiseResult result{program, {"realise"}};
  Interner interner(result.program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    bool changed = false;
    GraphClaim claim = Realiser(result.program, interner, GraphId(g)).run(changed);
    if (changed) result.step.graphs.push_back(std::move(claim));
  }
  return result;
}

PassResult realise(const Program& program, const PassContext&) {
  RealiseResult made = realise(program);
  return {std::move(made.program), std::move(made.step)};
}

}  // namespace tap::passes
