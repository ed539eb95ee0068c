// Of random operators, boxes of cells and constraints: every point whose write meets the cells is one of those that are named.
#include <gtest/gtest.h>

#include <random>

#include "replay/execution.h"
#include "tests/ir/build.h"

namespace tap::check {
namespace {

using namespace ir;
using namespace ir::test;

class RandomWrites {
 public:
  explicit RandomWrites(unsigned seed) : random_(seed) {}

  std::int64_t number(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(random_);
  }
  AffineExpr expr(std::size_t dims) {
    AffineExpr e = AffineExpr::constant(dims, number(-3, 6));
    for (std::int64_t& c : e.coefficients) c = number(-3, 3);
    return e;
  }
  Operator op() {
    Operator made;
    const auto dims = static_cast<std::size_t>(number(1, 3));
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t lo = number(-2, 2);
      made.dims.push_back({"d", {lo, lo + number(0, 5)}, DimRole::parallel});
    }
    Access write;
    write.projection.start.inputs = dims;
    for (std::int64_t axes = number(1, 2); axes > 0; --axes) {
      write.projection.start.rows.push_back(expr(dims));
      write.projection.shape.push_back(number(1, 2));
    }
    made.writes.push_back(std::move(write));
    for (std::int64_t more = number(0, 2); more > 0; --more)
      made.constraints.push_back({expr(dims), number(0, 3) == 0 ? Comparison::equal_zero : Comparison::at_least_zero});
    return made;
  }
  Box cells(std::size_t rank) {
    Box box;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t lo = number(-8, 8);
      box.dims.push_back({lo, lo + number(0, 6)});
    }
    return box;
  }

 private:
  std::mt19937 random_;
};

bool writes_into(const Operator& op, const Point& at, const Box& cells) {
  if (cells.empty()) return false;
  Box one;
  for (std::int64_t i : at) one.dims.push_back({i, i + 1});
  for (const Constraint& c : op.constraints) {
    const std::int64_t value = least(c.expr, one);
    if (c.comparison == Comparison::equal_zero ? value != 0 : value < 0) return false;
  }
  const Projection& p = op.writes[0].projection;
  for (std::size_t axis = 0; axis < cells.rank(); ++axis) {
    const std::int64_t start = least(p.start.rows[axis], one);
    if (start + p.shape[axis] <= cells.dims[axis].lo || start >= cells.dims[axis].hi) return false;
  }
  return true;
}

TEST(Preimage, ContainsEveryWritingPoint) {
  RandomWrites random(20261123);
  std::size_t writing = 0, left_out = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Operator op = random.op();
    const Box cells = random.cells(op.writes[0].projection.rank()), space = box_of(op);
    const Box points = preimage_of_write(op, op.writes[0], cells);
    for (std::optional<Point> at = first_point(space); at;) {
      const bool named = points.contains(*at);
      if (writes_into(op, *at, cells)) {
        ++writing;
        ASSERT_TRUE(named) << to_string(cells) << " of " << to_string(space) << ": " << to_string(points);
      } else {
        left_out += !named;
      }
      if (!next_point(space, *at)) break;
    }
  }
  EXPECT_GT(writing, 1000u);
  EXPECT_GT(left_out, 10000u);
}

}  // namespace
}  // namespace tap::check
