// Changes to blocks, to where they go, and to the monoids that combine them.
#pragma once

#include "tests/check/mutant.h"

namespace tap::check::cases {

inline std::vector<Kind> block_changes() {
  using namespace changes;
  return {
      {"one block more", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && ++b->blocks.count;
       }},
      {"one block and number more", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         if (!b || b->blocks.boundaries.empty()) return false;
         ++b->blocks.count;
         ++op->dims[b->block_dim].range.hi;
         return true;
       }},
      {"first block shorter", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && !b->blocks.boundaries.empty() && ++b->blocks.boundaries.front();
       }},
      {"last block longer", by_blocks,
       [](Mutant& m) {
         auto* b = any_blocking(m);
         return b && !b->blocks.boundaries.empty() && ++b->blocks.boundaries.back();
       }},
      {"boundaries out of order", by_blocks,
       [](Mutant& m) {
         Blocking* b = any_blocking(m);
         if (!b || b->blocks.boundaries.size() < 4) return false;
         std::swap(b->blocks.boundaries[1], b->blocks.boundaries[2]);
         return true;
       }},
      {"another dim is cut", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         return b && (b->dim = (b->dim + 1) % static_cast<std::uint32_t>(op->dims.size()), b->dim != b->block_dim);
       }},
      {"blocking gone", by_blocks,
       [](Mutant& m) {
         Operator* op;
         return any_blocking(m, &op) && (op->blockings.pop_back(), true);
       }},
      {"blocks walked, not apart", by_blocks,
       [](Mutant& m) {
         Operator* op;
         Blocking* b = any_blocking(m, &op);
         if (!b) return false;
         DimRole& role = op->dims[b->block_dim].role;
         role = role == DimRole::parallel ? DimRole::reduction : DimRole::parallel;
         return true;
       }},
      // Placements.
      {"placed dim numbers no blocks",
       {"placement", "transfer"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && (p->dim = 0, true);
       }},
      {"blocks placed twice",
       {"placement", "transfer"},
       [](Mutant& m) {
         Operation* its;
         BlockPlacement* p = any_placement(m, &its);
         return p && (its->placements.push_back(BlockPlacement(*p)), true);
       }},
      {"blocks placed on another axis",
       {"placement", "transfer", "well-formed"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && p->axis && (p->axis->id = AxisId(p->axis->id.index() + 1), true);
       }},
      {"blocks placed on a mesh that is not there",
       {"well-formed"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && p->axis && (p->mesh = MeshId(m.of.after.meshes.size()), true);
       }},
      {"blocks placed on a part of the axis",
       {"placement", "transfer"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && p->axis && (p->axis->sub = SubAxis{1, 2}, true);
       }},
      {"a device has two blocks",
       {"placement", "transfer"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && p->devices.size() > 1 && (p->devices[1].push_back(p->devices[0][0]), true);
       }},
      {"a block without a device",
       {"placement", "transfer"},
       [](Mutant& m) {
         BlockPlacement* p = any_placement(m);
         return p && !p->devices.empty() && (p->devices.back().clear(), true);
       }},
      {"a device less than blocks",
       {"placement", "transfer", "interface"},
       [](Mutant& m) {
         Mesh* mesh = m.any(m.of.after.meshes);
         return mesh && --mesh->axes[0].size;
       }},
      // A transfer that is placed nowhere reaches all devices, but who reads it has no more than it moves.
      {"the reader of a transfer placed nowhere",
       {"transfer", "placement"},
       [](Mutant& m) {
         Operation* reader = any_reader_of_a_transfer(m);
         return reader && (reader->placements.clear(), true);
       }},
      {"a transfer moves fewer points",
       {"reads-covered"},
       [](Mutant& m) {
         Operator* moves = any_transfer(m);
         if (!moves || moves->dims.empty()) return false;
         const std::size_t d = m.any(moves->dims.size());
         AffineExpr point = AffineExpr::variable(moves->dims.size(), d);
         point.offset = -moves->dims[d].range.lo - 1;
         moves->constraints.push_back({point});
         return true;
       }},
      {"a transfer moves a shorter range",
       {"reads-covered", "blocks-partition", "placement"},
       [](Mutant& m) {
         Operator* moves = any_transfer(m);
         if (!moves || moves->dims.empty()) return false;
         --moves->dims[m.any(moves->dims.size())].range.hi;
         return true;
       }},
      {"a transfer moves regions of other dims",
       {"reads-covered", "transfer", "blocks-partition", "placement"},
       [](Mutant& m) {
         Operator* moves = any_transfer(m);
         if (!moves || moves->dims.size() < 2) return false;
         const std::size_t d = m.any(moves->dims.size()), other = m.any(moves->dims.size());
         if (d == other) return false;
         for (auto* list : {&moves->reads, &moves->writes})
           for (Access& access : *list)
             for (AffineExpr& row : access.projection.start.rows)
               std::swap(row.coefficients[d], row.coefficients[other]);
         return true;
       }},
      // Monoids.
      {"identity changed", by_monoid,
       [](Mutant& m) {
         Monoid* monoid = m.any(m.of.after.monoids);
         if (!monoid) return false;
         CellNode node = monoid->exprs[monoid->identity[0]];
         monoid->identity[0] = monoid->exprs.constant(Scalar::integer(node.type, node.value.i == 17 ? 18 : 17));
         return true;
       }},
      {"combination changed", by_monoid,
       [](Mutant& m) {
         Monoid* monoid = m.any(m.of.after.monoids);
         if (!monoid) return false;
         CellNode node = monoid->exprs[monoid->combine[0]];
         node.op = node.op == CellOp::sub ? CellOp::add : CellOp::sub;
         monoid->combine[0] = monoid->exprs.add(node);
         return true;
       }},
      {"law claimed", by_monoid,
       [](Mutant& m) {
         auto* monoid = m.any(m.of.after.monoids);
         return monoid && (monoid->laws.fold = Law::proved, true);
       }},
  };
}

}  // namespace tap::check::cases
