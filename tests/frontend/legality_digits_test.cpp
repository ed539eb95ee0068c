// Questions about writes that are made smaller: what they become, and that the verdict and the witness stay.
#include "compiler/frontend/proofs/legality_digits.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "compiler/frontend/proofs/legality_proof.h"
#include "tests/frontend/build_operator.h"

namespace tap {
namespace {

using B = testing::OperatorBuilder;

// y[7*i + j, k] for i <= k: j is left out, i and k stay.
TEST(SplitDigits, FlattenedAxesBecomeTheirDigits) {
  B b;
  auto i = b.parallel(0, 4), j = b.parallel(0, 7), k = b.parallel(0, 5);
  b.at_least_zero(B::at({{k, 1}, {i, -1}}));
  b.write({28, 5}, {B::at({{i, 7}, {j, 1}}), B::at({{k, 1}})});
  ir::Operator op = b.build();
  SplitDigits digits = split_digits({28, 5}, {write_map(op, 0)});
  EXPECT_EQ(digits.shape, (Shape{4, 5}));
  ASSERT_EQ(digits.maps[0].dims.size(), 2u);
  EXPECT_EQ(digits.maps[0].dims[1].dim, k);
  EXPECT_EQ(digits.maps[0].projection.start(ir::Point{3, 2}), (ir::Point{3, 2}));
  EXPECT_EQ(digits.first_cell({3, 2}), (ir::Point{21, 2}));
}

// y[n-1-i] of one writer and y[i] of another: their points at the begin write different cells.
TEST(SplitDigits, DimsOfOppositeDirectionStay) {
  B a, b;
  for (B* x : {&a, &b}) x->parallel(2, 8);
  a.write({6}, {B::at({{0, -1}}, 7)});
  b.write({6}, {B::at({{0, 1}}, -2)});
  ir::Operator one = a.build(), other = b.build();
  SplitDigits both = split_digits({6}, {write_map(one, 0), write_map(other, 0)});
  EXPECT_EQ(both.shape, (Shape{6}));
  EXPECT_EQ(both.maps[0].projection.start(ir::Point{2}), (ir::Point{5}));
  SplitDigits reversed = split_digits({6}, {write_map(one, 0)});
  EXPECT_TRUE(reversed.shape.empty());
  EXPECT_EQ(reversed.cell_of_points({}), (ir::Point{5}));
  EXPECT_EQ(reversed.first_cell({}), (ir::Point{0}));
}

// Up to five dims flattened into axes, some digits reversed, one coefficient wrong now and then; one writer or two, along
// a diagonal that may be shifted; now and then a second constraint.
struct RandomWriters {
  std::vector<ir::Operator> ops;
  Shape shape;

  RandomWriters() {
    std::size_t dims = static_cast<std::size_t>(number(1, 5));
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < dims; ++d) extents.push_back(number(1, 4));
    std::vector<ir::AffineExpr> rows;
    for (std::uint32_t d = 0; d < dims;) {
      B::Terms terms;
      std::int64_t stride = 1, offset = 0;
      for (std::int64_t group = number(1, 3); group > 0 && d < dims; --group, ++d) {
        bool reversed = number(0, 2) == 0;
        std::int64_t wrong = number(0, 8) == 0 ? 1 : 0;
        terms.push_back({d, (reversed ? -1 : 1) * (stride + wrong)});
        if (reversed) offset += (stride + wrong) * (extents[d] - 1);
        stride = stride * extents[d] + wrong * (extents[d] - 1);
      }
      rows.push_back(B::at(terms, offset));
      shape.push_back(stride);
    }
    std::int64_t writers = dims >= 2 ? number(1, 2) : 1, shift = number(-2, 2), other_shift = number(0, 4) == 0 ? 1 : 0;
    for (std::int64_t w = 0; w < writers; ++w) {
      B b;
      for (std::int64_t n : extents) b.parallel(0, n);
      std::int64_t sign = w == 0 ? 1 : -1;
      if (writers == 2) b.at_least_zero(B::at({{0, sign}, {1, -sign}}, w == 0 ? shift : -shift - 1 + other_shift));
      if (dims >= 3 && number(0, 5) == 0) b.at_least_zero(B::at({{2, 2}, {0, -1}}));
      b.write(shape, rows);
      b.value(b.zero());
      ops.push_back(b.build());
    }
  }
  static std::int64_t number(std::int64_t lo, std::int64_t hi) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(lo, hi + 1));
  }
};

// Whether the points and the cell of a witness fit together: they are in the domain and write it.
bool writes(const ir::Operator& op, const ir::Point& point, const ir::Point& cell) {
  return op.domain().contains(point) && op.writes[0].projection.start(point) == cell;
}

RC_GTEST_PROP(SplitDigitsProperty, AgreesWithEnumeration, ()) {
  RandomWriters random;
  std::vector<Writer> writers;
  std::vector<WriteMap> maps;
  for (const ir::Operator& op : random.ops) writers.push_back({&op, 0}), maps.push_back(write_map(op, 0));
  auto expected = enumerate_writes(random.shape, writers, maps, 1 << 20);
  RC_ASSERT(expected.has_value());
  auto found = Legality({.closed_forms = false}).check_writes(random.shape, writers);
  RC_TAG(!found ? "legal" : found->index() == 1 ? "twice" : found->index() == 2 ? "outside" : "never");
  RC_ASSERT(found.has_value() == expected->has_value());
  if (!found) return;
  RC_ASSERT(found->index() == (**expected).index());
  if (auto* v = std::get_if<WrittenTwice>(&*found)) {
    RC_ASSERT(writes(random.ops[v->first], v->first_point, v->cell));
    RC_ASSERT(writes(random.ops[v->second], v->second_point, v->cell));
    RC_ASSERT(v->first != v->second || v->first_point != v->second_point);
  }
  if (auto* v = std::get_if<NeverWritten>(&*found)) RC_ASSERT(v->cell == std::get<NeverWritten>(**expected).cell);
}

}  // namespace
}  // namespace tap
