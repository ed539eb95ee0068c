#include "passes/shardings/plan_writers.h"

#include <algorithm>
#include <cstdlib>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0); }

// The dim with the largest step along an axis; none if the writes are at one position.
std::optional<std::uint32_t> walker(const AffineExpr& row) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t d = 0; d < row.coefficients.size(); ++d)
    if (row.coefficients[d] != 0 && (!found || std::abs(row.coefficients[d]) > std::abs(row.coefficients[*found])))
      found = d;
  return found;
}

// The lines for one writer: `access` is how it writes the value.
class WriterSplitter {
 public:
  WriterSplitter(const Operator& op, const std::string& name, const Access& access, const Shape& shape)
      : op_(op), name_(name), access_(access), shape_(shape) {}

  // Why it cannot be split this way; empty if it can.
  std::string add(const AxisSplit& axis_split, std::vector<PlannedSplit>& out) const {
    const AffineExpr& row = access_.projection.start.rows[axis_split.axis];
    const Range axis{0, shape_[axis_split.axis]};
    PlannedSplit split = axis_split.over;
    split.operation = name_;
    const std::optional<std::uint32_t> dim = walker(row);
    if (!dim) {
      const std::optional<std::int64_t> at =
          block_of(axis_split, row.offset, access_.projection.shape[axis_split.axis]);
      if (!at) return "`" + name_ + "` writes across the boundary of a block";
      split.blocks = Blocks{};
      split.all_at = *at;
    } else {
      if (row.coefficients[*dim] < 0) return "`" + name_ + "` writes it in reverse order";
      split.dim = plan_dim_name(op_, *dim);
      std::vector<Range> blocks;
      Range own = op_.dims[*dim].range;
      for (std::int64_t b = 0; b < axis_split.blocks.count; ++b) {
        const std::int64_t lo = b == 0 ? own.lo : blocks.back().hi;
        const std::int64_t end =
            b + 1 == axis_split.blocks.count ? own.hi : first_from(row, *dim, axis_split.blocks.block(axis, b).hi);
        blocks.push_back({lo, std::clamp(end, lo, std::max(lo, own.hi))});
      }
      split.blocks = blocks_of(own, blocks);
    }
    out.push_back(std::move(split));
    return "";
  }

 private:
  // The least point of the dim such that no earlier point writes at or past that position.
  std::int64_t first_from(const AffineExpr& row, std::uint32_t dim, std::int64_t begin) const {
    std::int64_t rest = row.offset;
    for (std::uint32_t d = 0; d < op_.dims.size(); ++d) {
      const Range range = op_.dims[d].range;
      if (d == dim || row.coefficients[d] == 0 || range.empty()) continue;
      rest = checked::add(rest, checked::mul(row.coefficients[d], row.coefficients[d] > 0 ? range.lo : range.hi - 1));
    }
    return quotient_up(checked::sub(begin, rest), row.coefficients[dim]);
  }

  std::optional<std::int64_t> block_of(const AxisSplit& axis_split, std::int64_t begin, std::int64_t size) const {
    for (std::int64_t b = 0; b < axis_split.blocks.count; ++b) {
      const Range block = axis_split.blocks.block({0, shape_[axis_split.axis]}, b);
      if (block.lo <= begin && begin < block.hi) return begin + size <= block.hi ? std::optional(b) : std::nullopt;
    }
    return std::nullopt;
  }

  const Operator& op_;
  const std::string& name_;
  const Access& access_;
  const Shape& shape_;
};

}  // namespace

WritersPlan plan_of_writers(const Program& program, const Graph& graph, const std::vector<std::string>& names,
                            ValueId value, const std::vector<AxisSplit>& axis_splits) {
  WritersPlan out;
  auto fail = [](std::string why) { return WritersPlan{{}, std::move(why)}; };
  for (std::size_t o = 0; o < graph.operations.size(); ++o) {
    const Operation& operation = graph.operations[o];
    const auto found = std::find(operation.results.begin(), operation.results.end(), value);
    if (found == operation.results.end()) continue;
    const auto number = static_cast<std::uint32_t>(found - operation.results.begin());
    const Operator op = with_author_names(program, operation);
    const auto writes = std::count_if(op.writes.begin(), op.writes.end(), [&](auto& w) { return w.tensor == number; });
    if (writes != 1) return fail("`" + names[o] + "` does not write it cell by cell");
    const Access& access =
        *std::find_if(op.writes.begin(), op.writes.end(), [&](auto& w) { return w.tensor == number; });
    for (const AxisSplit& axis_split : axis_splits) {
      std::string why = WriterSplitter(op, names[o], access, graph[value].type.shape).add(axis_split, out.splits);
      if (!why.empty()) return fail(std::move(why));
    }
  }
  return out;
}

std::string plan_dim_name(const Operator& op, std::uint32_t dim) {
  const std::string& name = op.dims[dim].name;
  return find_dim(op, name) == dim ? name : "#" + std::to_string(dim);
}

}  // namespace tap::passes
