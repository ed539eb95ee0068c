#include "passes/shardings/factors.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ir/text.h"
#include "passes/shardings/sites.h"
#include "tests/passes/lowered.h"
#include "tests/passes/random_program.h"

namespace tap::passes::test {
namespace {

// The factors of the site that writes Y.
std::string factors_for(const std::string& signature, const std::string& body) {
  ir::Program program = lowered("program p(" + signature + " { " + body + " }");
  const ir::Graph& graph = program[program.main];
  FactorTable table(program);
  for (const Site& site : sites_of(program, graph, table))
    for (ir::ValueId v : site.results)
      if (graph[v].name == "Y") return to_string(site.factors);
  return "none";
}

TEST(Factors, ProductsAndReductions) {
  EXPECT_EQ(factors_for("x: f32[4, 6], w: f32[6, 5]) -> (Y: f32[4, 5])", "Y[i, o] = sum[k] x[i, k] * w[k, o]"),
            "([i, k], [k, o])->([i, o]) {i=4, o=5, k=6} reduction={k}");
  EXPECT_EQ(factors_for("x: f32[4, 6], b: f32[6]) -> (Y: f32[4, 6])", "Y[i, j] = x[i, j] + b[j]"),
            "([i, j], [j])->([i, j]) {i=4, j=6}");
}

TEST(Factors, DigitsOfOneAxisMajorToMinor) {
  EXPECT_EQ(factors_for("x: f32[2, 4]) -> (Y: f32[8])", "Y[4*i + j] = x[i, j]"), "([i, j])->([i j]) {i=2, j=4}");
  EXPECT_EQ(factors_for("x: f32[12]) -> (Y: f32[2, 3, 2])", "Y[i, j, k] = x[6*i + 2*j + k]"),
            "([i j k])->([i, j, k]) {i=2, j=3, k=2}");
}

TEST(Factors, MovedCellsArePermutations) {
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[8])", "Y[i] = x[7 - i]"), "([i])->([i]) {i=8} permutation={i}");
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[8])", "Y[i] = x[i - 1 else 0] + x[i] + x[i + 1 else 0]"),
            "([i])->([i]) {i=8} permutation={i}");
  EXPECT_EQ(factors_for("x: f32[8]) -> (Y: f32[3])", "Y[i] = x[2*i + 1]"), "([i])->([i]) {i=8} permutation={i}");
}

TEST(Factors, HaloWidths) {
  ir::Program program =
      lowered("program p(x: f32[8]) -> (Y: f32[8]) { Y[i] = x[i - 2 else 0] + x[i] + x[i + 1 else 0] }");
  Factors found = factors_of(program.operators[0]);
  ASSERT_EQ(found.operands.size(), 1u);
  EXPECT_EQ(found.operands[0].axes[0].before, 2);
  EXPECT_EQ(found.operands[0].axes[0].after, 1);
  program = lowered("program p(x: f32[17], w: f32[3]) -> (Y: f32[8]) { Y[i] = sum[u] x[2*i + u] * w[u] }");
  found = factors_of(program.operators[0]);
  EXPECT_EQ(found.operands[0].axes[0].before, 0);
  EXPECT_EQ(found.operands[0].axes[0].after, 1);  // a block of 2·b cells ends one cell before its last window does
}

TEST(Factors, WindowsAndTheAxisRemainder) {
  EXPECT_EQ(factors_for("x: f32[224], w: f32[3]) -> (Y: f32[112])", "Y[p] = sum[u] x[2*p + u else 0] * w[u]"),
            "([p u], [u])->([p]) {p=112, u=2} reduction={u} permutation={p}");
}

TEST(Factors, DataDependentAndFixedIndicesNeedTheWholeAxis) {
  EXPECT_EQ(factors_for("t: f32[9, 4], ids: i64[6]) -> (Y: f32[6, 4])", "Y[n, d] = t[ids[n], d]"),
            "([n], [#t0, d])->([n, d]) {n=6, d=4, #t0=9} replicated={#t0}");
  EXPECT_EQ(factors_for("x: f32[9, 4]) -> (Y: f32[4])", "Y[d] = x[3, d]"),
            "([#x0, d])->([d]) {d=4, #x0=9} replicated={#x0}");
  EXPECT_EQ(factors_for("x: f32[4, 4]) -> (Y: f32[4])", "Y[d] = x[d, d]"),
            "([d, #x1])->([d]) {d=4, #x1=4} replicated={#x1}");
}

TEST(Factors, WritersOfOneValueAreOneSite) {
  EXPECT_EQ(factors_for("a: f32[4, 3], b: f32[4, 5]) -> (Y: f32[4, 8])",
                        "Y[i, j] = a[i, j] for j in 0..3  Y[i, 3 + j] = b[i, j]"),
            "([i, j], [i, j])->([i, j]) {i=4, j=8} replicated={j}");
  // Along an axis that both write whole, what moves in one of them moves.
  EXPECT_EQ(factors_for("a: f32[4, 3], b: f32[4, 5]) -> (Y: f32[4, 8])",
                        "Y[i, j] = a[3 - i, j] for j in 0..3  Y[i, 3 + j] = b[i, j] for i in 0..4"),
            "([i, j], [i, j])->([i, j]) {i=4, j=8} replicated={j} permutation={i}");
  // Pieces of one tensor only change places.
  EXPECT_EQ(factors_for("x: f32[4, 8]) -> (Y: f32[4, 8])",
                        "a[i, j] = x[i, j + 1] for j in 0..7  b[i, j] = x[i, j] for j in 0..1 "
                        "Y[i, j] = a[i, j] for j in 0..7  Y[i, 7 + j] = b[i, j]"),
            "([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}");
}

TEST(Factors, EmptyTensorsHaveNoFactors) {
  EXPECT_EQ(factors_for("x: f32[0]) -> (Y: f32[0, 4])", "Y[i, j] = x[4*i + j]"), "none");
}

// The digit of a coordinate that belongs to a factor of its axis.
std::int64_t digit_of(const Factors& all, const AxisFactors& axis, std::uint32_t factor, std::int64_t coordinate) {
  std::int64_t below = 1;
  for (std::size_t k = axis.factors.size(); k-- > 0 && axis.factors[k] != factor;)
    below *= all.factors[axis.factors[k]].size;
  return coordinate / below % all.factors[factor].size;
}

// Every point of the domain reads and writes, of each axis with a factor that is passed through or reduced, exactly the cells
// of its own number: so blocks of that dim need nothing of each other there.
void expect_factors_hold(const ir::Program& program, const ir::Operator& op) {
  Factors found = factors_of(op);
  ir::Domain domain = op.domain();
  std::optional<ir::Point> p = ir::first_point(domain.box);
  for (bool more = p.has_value(); more; more = ir::next_point(domain.box, *p)) {
    if (!domain.contains(*p)) continue;
    for (bool write : {false, true})
      for (const ir::Access& access : write ? op.writes : op.reads) {
        ir::Box cells = access.projection.image(*p);
        // The entry for this access is one of its tensor's; whichever says more must hold for one of them.
        bool any = false;
        for (const TensorFactors& tensor : write ? found.results : found.operands) {
          if (tensor.tensor != access.tensor) continue;
          bool all = true;
          for (std::size_t a = 0; a < tensor.axes.size(); ++a)
            for (std::uint32_t f : tensor.axes[a].factors) {
              const Factor& factor = found.factors[f];
              if (!factor.dim || factor.moves) continue;
              if (cells.dims[a].lo < 0 || cells.dims[a].hi > (write ? op.results : op.operands)[access.tensor].shape[a])
                continue;
              for (std::int64_t c = cells.dims[a].lo; c < cells.dims[a].hi; ++c)
                all = all && digit_of(found, tensor.axes[a], f, c) == (*p)[*factor.dim] - op.dims[*factor.dim].range.lo;
            }
          any = any || all;
        }
        if (!any) RC_FAIL(ir::print(program, op) + to_string(found));
      }
  }
}

RC_GTEST_PROP(Factors, HoldAtEveryPointOfRandomPrograms, ()) {
  auto outcome = tap::test::compile_text(RandomProgram("f32").make());
  RC_PRE(outcome.compiled.has_value());
  ir::Program program = inline_calls(outcome.compiled->program, {}).program;
  for (const ir::Operator& op : program.operators)
    if (!op.region()) expect_factors_hold(program, op);
}

}  // namespace
}  // namespace tap::passes::test
