#include "passes/shardings/onnx_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/shardings/onnx_devices.h"
#include "passes/shardings/onnx_splits.h"
#include "support/plural.h"

namespace tap::passes::onnx {
namespace {

using ir::Range;
using ir::onnx::Devices;
using ir::onnx::Parts;
using ir::onnx::Rule;

constexpr std::int64_t most_shards_of_a_value = 1 << 20;

// A part, with its operation's splits of the value's axes.
struct PlacedPart {
  const WrittenPart* written = nullptr;
  const TensorFactors* axes = nullptr;
  Factors factors;
  std::vector<bool> follows;  // by axis: an operand has it, and it is split like the operand's
};

class ValueParts {
 public:
  ValueParts(const std::vector<WrittenPart>& parts, const Shape& shape) : shape_(shape) {
    for (const WrittenPart& written : parts) {
      PlacedPart part{&written, nullptr, factors_of(*written.op), std::vector<bool>(shape.size())};
      parts_.push_back(std::move(part));
    }
    for (PlacedPart& part : parts_)
      for (const TensorFactors& tensor : part.factors.results)
        if (tensor.tensor == part.written->result && !part.axes) part.axes = &tensor;
  }

  Placed placement() {
    find_axes();
    Placed out;
    for (std::size_t a = 0; a < shape_.size(); ++a) out.axes.push_back(common_parts(a));
    for (const Parts& axis : out.axes) counts_.push_back(shards_of(axis));
    std::int64_t shards = 1;
    for (std::int64_t count : counts_)
      if (__builtin_mul_overflow(shards, count, &shards) || shards > most_shards_of_a_value)
        throw Broken{Rule::grid, "the sharded axes of its parts make more than 1048576 shards"};
    for (const PlacedPart& part : parts_) {
      auto& lists = overlaps_.emplace_back();
      for (std::size_t a = 0; a < shape_.size(); ++a) lists.push_back(overlap(part, a, out.axes[a]));
    }
    auto placed = [](const PlacedPart& part) { return !part.written->placed.is_unsharded(); };
    if (std::none_of(parts_.begin(), parts_.end(), placed)) return {};
    for (std::int64_t s = 0; s < shards; ++s) out.shards.push_back(devices(s));
    return out;
  }

 private:
  void find_axes() {
    for (PlacedPart& part : parts_)
      for (std::size_t a = 0; part.axes && a < shape_.size(); ++a)
        for (std::uint32_t f : bound_factors(part.factors, part.axes->axes[a], shape_[a]))
          for (const TensorFactors& operand : part.factors.operands)
            part.follows[a] = part.follows[a] || has_factor(operand, f);
  }

  static const Parts& own_parts(const PlacedPart& part, std::size_t axis) {
    static const Parts whole;
    const Placed& placed = part.written->placed;
    return placed.axes.empty() ? whole : placed.axes[axis];
  }

  // As in all parts whose operands have that axis.
  Parts common_parts(std::size_t axis) const {
    const PlacedPart* first = nullptr;
    for (const PlacedPart& part : parts_) {
      if (!part.follows[axis]) continue;
      if (!first) first = &part;
      if (own_parts(*first, axis) == own_parts(part, axis)) continue;
      auto shards = [&](const PlacedPart& p) {
        return plural(static_cast<std::uint64_t>(shards_of(own_parts(p, axis))), "shard");
      };
      throw Broken{Rule::same_sharding,
                   fmt::format("axis {} has {} in the part that {} writes and {} in the part that {} writes", axis,
                               shards(*first), first->written->name, shards(part), part.written->name)};
    }
    return first ? own_parts(*first, axis) : Parts{};
  }

  // The cells of the value that a block of the part writes along the axis.
  Range image(const PlacedPart& part, std::size_t axis, std::uint32_t factor, const Range& block) const {
    Range all{shape_[axis], 0};
    for (const ir::Access& write : part.written->op->writes) {
      if (write.tensor != part.written->result) continue;
      ir::Box box = part.written->op->box();
      box.dims[*part.factors.factors[factor].dim] = block;
      Range starts = write.projection.start.rows[axis].bounds(box);
      if (starts.empty()) continue;
      all = {std::min(all.lo, starts.lo), std::max(all.hi, starts.hi + write.projection.shape[axis] - 1)};
    }
    return all.lo < all.hi ? all : Range{0, 0};
  }

  // The points that a part computes from block `b` of an operand with the dim as an axis. Such an axis may have more
  // cells than the part has points: `Y[i, j] = -A[i, j] for j in i + 1..4` computes at 1..4 of an axis of 4.
  static Range points_of_block(const PlacedPart& part, const Range& points, std::size_t dim, std::int64_t count,
                               std::int64_t b) {
    const ir::Operator& op = *part.written->op;
    for (const ir::Access& read : op.reads)
      for (std::size_t a = 0; a < read.projection.start.rows.size(); ++a) {
        const ir::AffineExpr& row = read.projection.start.rows[a];
        ir::AffineExpr along = ir::AffineExpr::variable(op.dims.size(), dim);
        along.offset = row.offset;
        if (!(row == along) || read.projection.shape[a] != 1) continue;
        Range cells = ir::Blocks{count}.block({0, op.operands[read.tensor].shape[a]}, b);
        return {std::max(points.lo, cells.lo - row.offset), std::min(points.hi, cells.hi - row.offset)};
      }
    return ir::Blocks{count}.block(points, b);
  }

  // By block of the value along the axis: the part's blocks that have cells of it.
  std::vector<std::vector<std::int64_t>> overlap(const PlacedPart& part, std::size_t axis, const Parts& parts) const {
    std::int64_t count = shards_of(parts);
    std::vector<std::vector<std::int64_t>> lists(static_cast<std::size_t>(count));
    std::vector<std::uint32_t> bound;
    if (part.follows[axis]) bound = bound_factors(part.factors, part.axes->axes[axis], shape_[axis]);
    bool numbered = bound.size() == 1 && parts.size() <= 1 && part.factors.factors[bound[0]].dim;
    if (count == 1 || !part.follows[axis] || !numbered) {
      for (std::int64_t b = 0; b < count; ++b) lists[static_cast<std::size_t>(b)] = {part.follows[axis] ? b : 0};
      return lists;
    }
    Range points = part.written->op->dims[*part.factors.factors[bound[0]].dim].range;
    std::int64_t size = std::max<std::int64_t>(1, (shape_[axis] + count - 1) / count);
    for (std::int64_t b = 0; b < count; ++b) {
      Range cells =
          image(part, axis, bound[0], points_of_block(part, points, *part.factors.factors[bound[0]].dim, count, b));
      if (cells.empty()) continue;
      for (std::int64_t own = cells.lo / size; own <= (cells.hi - 1) / size; ++own)
        lists[static_cast<std::size_t>(own)].push_back(b);
    }
    return lists;
  }

  Devices devices(std::int64_t shard) const {
    std::vector<std::int64_t> at(counts_.size());
    for (std::size_t a = counts_.size(); a-- > 0; shard /= counts_[a]) at[a] = shard % counts_[a];
    std::optional<Devices> common;
    const Devices* any = nullptr;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Placed& placed = parts_[p].written->placed;
      if (placed.is_unsharded()) continue;
      if (!any) any = &placed.shards.front();
      std::vector<std::int64_t> numbers = {0};
      for (std::size_t a = 0; a < at.size(); ++a) {
        std::int64_t radix = shards_of(own_parts(parts_[p], a));
        std::vector<std::int64_t> next;
        for (std::int64_t number : numbers)
          for (std::int64_t block : overlaps_[p][a][static_cast<std::size_t>(at[a])])
            next.push_back(number * radix + (radix == 1 ? 0 : block));
        numbers = std::move(next);
      }
      for (std::int64_t number : numbers) meet(common, placed.shards[static_cast<std::size_t>(number)], at);
    }
    return common ? *common : *any;  // no part has cells of it
  }

  void meet(std::optional<Devices>& common, const Devices& devices, const std::vector<std::int64_t>& at) const {
    if (!common) {
      common = devices;
      return;
    }
    Devices left = both(*common, devices);
    if (left.empty()) {
      std::int64_t number = 0;
      for (std::size_t a = 0; a < at.size(); ++a) number = number * counts_[a] + at[a];
      throw Broken{Rule::composable,
                   fmt::format("no single device holds all parts of shard {}: some are on {}, some on {}", number,
                               ir::onnx::to_string(*common), ir::onnx::to_string(devices))};
    }
    common = std::move(left);
  }

  const Shape& shape_;
  std::vector<PlacedPart> parts_;
  std::vector<std::int64_t> counts_;                                           // shards by axis
  std::vector<std::vector<std::vector<std::vector<std::int64_t>>>> overlaps_;  // by part, axis and block: its blocks
};

}  // namespace

std::variant<Placed, Broken> placement_of_parts(const std::vector<WrittenPart>& parts, const Shape& shape) {
  try {
    return ValueParts(parts, shape).placement();
  } catch (Broken& broken) { return std::move(broken); }
}

}  // namespace tap::passes::onnx
