// What is lazy and shared: values are the oracle's, only what is taken may fail, and no chain of shared cells grows.
#include <random>

#include "ir/graph.h"
#include "tests/backend/compare.h"

namespace tap::backend::test {
namespace {

constexpr std::int64_t points = 6;

// Each cell uses earlier ones, mostly the latest, so that nearly all are shared among branches; many could fail.
class SharedCells {
 public:
  explicit SharedCells(std::uint32_t seed) : random_(seed), b_("y"), i_(b_.parallel("i", points)) {
    x_ = b_.operand(i64, {points});
    b_.result(i64, {points}, {b_[i_]});
    numbers_ = {b_.index(i_), b_.read(x_, {b_[i_]}), b_.literal(i64, 2)};
    conditions_ = {b_.apply(CellOp::less, {b_.literal(i64, 0), b_.index(i_)})};
  }
  Operator make(int cells) {
    for (int c = 0; c < cells; ++c) draw(3) == 0 ? conditions_.push_back(condition()) : numbers_.push_back(number());
    return b_.map({numbers_.back()});
  }

 private:
  int draw(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  CellId late(const std::vector<CellId>& cells) {
    int back = draw(draw(4) == 0 ? 12 : 3);
    return cells[cells.size() - 1 - std::min(static_cast<std::size_t>(back), cells.size() - 1)];
  }
  CellId number() {
    CellId a = late(numbers_), b = late(numbers_), c = late(conditions_);
    switch (draw(10)) {
      case 0: return b_.apply(CellOp::div, {a, b});
      case 1: return b_.apply(CellOp::mod, {a, b});
      case 2: return b_.read(x_, {b_[i_] + (draw(3) - 1)}, a);
      case 3: return b_.gather(x_, a, {}, b);
      case 4: return b_.apply(CellOp::sub, {b_.gather(x_, a, {}, b), b});
      case 5: return b_.apply(CellOp::select, {conditions_.front(), b_.apply(CellOp::add, {before(), a}), b});
      case 6: return b_.apply(CellOp::select, {c, b_.gather(x_, a, {}), b});
      default: return b_.apply(CellOp::select, {c, a, b});
    }
  }
  CellId before() { return b_.read(x_, {b_[i_] - 1}); }  // only where i > 0
  CellId condition() {
    CellId a = late(numbers_), c = late(conditions_), d = late(conditions_);
    switch (draw(5)) {
      case 0: return b_.apply(CellOp::logical_and, {c, d});
      case 1: return b_.apply(CellOp::logical_or, {c, d});
      case 2: return b_.apply(CellOp::equal, {c, d});
      default: return b_.apply(CellOp::less, {a, late(numbers_)});
    }
  }

  std::mt19937 random_;
  Build b_;
  std::uint32_t i_, x_ = 0;
  std::vector<CellId> numbers_, conditions_;
};

// None if it fails.
std::optional<std::vector<Tensor>> outputs_of(const std::function<std::vector<Tensor>()>& run) {
  try {
    return run();
  } catch (const EvaluationError&) { return std::nullopt; }
}

TEST(Lazy, SharedCellsThatMayFail) {
  const std::uint32_t first_seed = 1;
  int failed = 0, succeeded = 0;
  for (std::uint32_t seed = first_seed; seed < first_seed + 150; ++seed) {
    Program program;
    BuildGraph g{program, {}};
    ValueId x = g.input("x", i64, {points});
    GraphId main = g.finish(g.add(SharedCells(seed).make(30), {x}));
    std::vector<Tensor> inputs{whole_numbers(i64, {points}, seed % 11)};
    auto expected = outputs_of([&] { return interpret(program, main, inputs).outputs; });
    auto got = outputs_of([&] { return execute(program, main, inputs); });
    ASSERT_EQ(got.has_value(), expected.has_value()) << "seed " << seed;
    ++(got ? succeeded : failed);
    if (got) expect_same_bits(*got, *expected, "seed " + std::to_string(seed));
  }
  EXPECT_GT(failed, 20);
  EXPECT_GT(succeeded, 20);
}

// In each link `a` is expected in two places, neither of which is sure to be reached.
TEST(Lazy, ChainsOfSharedCellsDoNotGrow) {
  using Link = std::function<CellId(Build&, CellId a, CellId x, CellId early)>;
  auto choose = [](Build& b, CellId c, CellId t, CellId e) { return b.apply(CellOp::select, {c, t, e}); };
  Link links[] = {
      [](Build& b, CellId a, CellId x, CellId) {
        return b.apply(CellOp::sub, {b.gather(0, x, {}, a), b.read(0, {b[0] + 1}, a)});
      },
      [&](Build& b, CellId a, CellId x, CellId early) {
        CellId quotient = b.apply(CellOp::div, {x, b.apply(CellOp::add, {a, b.literal(i64, 100)})});
        CellId other = b.apply(CellOp::mod, {a, b.literal(i64, 50)});
        return b.apply(CellOp::add,
                       {choose(b, early, quotient, x), choose(b, early, x, b.apply(CellOp::div, {other, x}))});
      },
      [&](Build& b, CellId a, CellId x, CellId early) {
        CellId positive = b.apply(CellOp::less, {b.apply(CellOp::div, {x, a}), a});
        return choose(b, choose(b, early, positive, early), b.apply(CellOp::div, {b.literal(i64, 90), a}), x);
      },
  };
  for (const Link& link : links) {
    Build b("y");
    auto i = b.parallel("i", points);
    auto operand = b.operand(i64, {points});
    b.result(i64, {points}, {b[i]});
    CellId x = b.read(operand, {b[i]}), early = b.apply(CellOp::less, {b.index(i), b.literal(i64, 3)});
    CellId a = x;
    for (int k = 0; k < 24; ++k) a = link(b, a, x, early);
    expect_native_is_oracle({}, b.map({a}), {tensor(i64, {points}, {1, 2, 3, 4, 5, 6})});
  }
}

}  // namespace
}  // namespace tap::backend::test
