#include "passes/splits/read_groups.h"

#include <algorithm>

#include "ir/graph.h"
#include "ir/shardings/device_assignment.h"
#include "ir/shardings/mesh_position.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

// The positions where blocks are furthest apart: reads are affine in the position.
std::vector<std::int64_t> corners(const Program& program, const Operation& operation,
                                  const DeviceAssignment& assignment) {
  const Mesh* mesh = mesh_of(program, operation);
  if (mesh == nullptr) return {0, assignment.count() - 1};
  std::vector<std::int64_t> found{0};
  constexpr std::size_t enough = 256;
  for (const MeshAxis& axis : mesh->axes) {
    for (std::int64_t& index : found) index *= axis.size;
    for (std::size_t k = 0, count = found.size(); k < count && axis.size > 1 && count < enough; ++k)
      found.push_back(found[k] + axis.size - 1);
  }
  return found;
}

// Like ir::read_pieces: cells are far apart if at least half of their bounding box is unused.
bool are_distant(const Box& a, const Box& b) {
  if (a.empty() || b.empty()) return false;
  const std::int64_t cells = checked::add(a.size(), b.size()) - intersect(a, b).size();
  return cells <= hull(a, b).size() / 2;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> nearby_reads(const Program& program, const Operation& operation,
                                                     std::uint32_t operand) {
  return nearby_reads(program, program[operation.op], operation.placements, operand);
}

std::vector<std::vector<std::uint32_t>> nearby_reads(const Program& program, const Operator& op,
                                                     const std::vector<BlockPlacement>& placements,
                                                     std::uint32_t operand) {
  Operation operation{};  // devices and corners follow from its placements alone
  operation.placements = placements;
  std::vector<std::vector<std::uint32_t>> groups(1);
  for (std::uint32_t r = 0; r < op.reads.size(); ++r)
    if (op.reads[r].tensor == operand) groups[0].push_back(r);
  const DeviceAssignment assignment(program, operation);
  if ((!op.map() && !op.reduce()) || groups[0].size() < 2 || assignment.is_replicated()) return groups;

  std::vector<std::vector<Box>> touched;  // by corner, by read of the group
  const Box whole = Box::of_shape(op.operands[operand].shape);
  for (std::int64_t index : corners(program, operation, assignment)) {
    const std::optional<Box> box = assignment.box(op, index);
    if (!box) continue;
    touched.emplace_back();
    for (std::uint32_t r : groups[0]) touched.back().push_back(intersect(op.reads[r].projection.bounds(*box), whole));
  }
  auto are_near = [&](std::size_t a, std::size_t b) {
    return std::none_of(touched.begin(), touched.end(), [&](const auto& at) { return are_distant(at[a], at[b]); });
  };
  std::vector<std::size_t> group(groups[0].size());  // by read: the first one close to it, directly or not
  for (std::size_t k = 0; k < group.size(); ++k) {
    group[k] = k;
    for (std::size_t other = 0; other < k; ++other)
      if (group[other] != group[k] && are_near(other, k)) {
        const auto [kept, merged] = std::minmax(group[other], group[k]);
        std::replace(group.begin(), group.end(), std::size_t(merged), std::size_t(kept));
      }
  }
  const std::vector<std::uint32_t> all = std::move(groups[0]);
  groups.clear();
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (group[first] != first) continue;
    groups.emplace_back();
    for (std::size_t k = first; k < all.size(); ++k)
      if (group[k] == first) groups.back().push_back(all[k]);
  }
  return groups;
}

Operator with_operands_for(Operator op, std::uint32_t operand, const std::vector<std::vector<std::uint32_t>>& groups) {
  for (std::size_t g = 1; g < groups.size(); ++g) {
    for (std::uint32_t r : groups[g]) op.reads[r].tensor = static_cast<std::uint32_t>(op.operands.size());
    op.operands.push_back(TensorType(op.operands[operand]));
    if (!op.operand_names.empty()) op.operand_names.push_back(std::string(op.operand_names[operand]));
  }
  return op;
}

}  // namespace tap::passes
