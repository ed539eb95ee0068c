// How long a proof takes: printed, and bounded at ten times what is promised (20 ms for up to 10 index dims).
#include <gtest/gtest.h>

#include <chrono>

#include "compiler/frontend/legality.h"
#include "tests/frontend/build_operator.h"

namespace tap {
namespace {

using testing::OperatorBuilder;
using B = OperatorBuilder;

struct Case {
  std::string name;
  Shape shape;
  std::vector<ir::Operator> ops;
  bool legal;
};

ir::AffineExpr var(std::uint32_t d, std::int64_t offset = 0) { return B::at({{d, 1}}, offset); }

// y[b, g*16 + o, z, y, x] = sum[c, u, v, w] x[b, g*8 + c, 2*z + u, y + v, x + w] * …, 10 dims in all
ir::Operator grouped_convolution(std::int64_t z_extent) {
  B b;
  auto n = b.parallel(0, 8), g = b.parallel(0, 4), o = b.parallel(0, 16), z = b.parallel(0, 30), y = b.parallel(0, 30),
       x = b.parallel(0, 30), c = b.reduction(0, 8), u = b.reduction(0, 3), v = b.reduction(0, 3),
       w = b.reduction(0, 3);
  b.value(b.read({8, 32, z_extent, 32, 32}, {var(n), B::at({{g, 8}, {c, 1}}), B::at({{z, 2}, {u, 1}}),
                                             B::at({{y, 1}, {v, 1}}), B::at({{x, 1}, {w, 1}})}));
  b.write({8, 64, 30, 30, 30}, {var(n), B::at({{g, 16}, {o, 1}}), var(z), var(y), var(x)});
  return b.build();
}

// A flattening of 10 dims of the given size in mixed radix, its last coefficient off by `shift`.
ir::Operator flatten(std::int64_t n, std::int64_t shift) {
  B b;
  B::Terms terms;
  std::int64_t stride = 1;
  for (int k = 0; k < 10; ++k, stride *= n) terms.push_back({b.parallel(0, n), stride + (k == 9 ? shift : 0)});
  std::int64_t whole = stride + shift * (n - 1);
  b.value(b.read({whole}, {B::at(terms)}));
  b.write({whole}, {B::at(terms)});
  return b.build();
}

// Ten dims that all lie in one order: i0 <= i1 <= … <= i9.
ir::Operator simplex(bool strict) {
  B b;
  std::vector<ir::AffineExpr> at;
  for (std::uint32_t k = 0; k < 10; ++k) at.push_back(var(b.parallel(0, 20)));
  for (std::uint32_t k = 0; k + 1 < 10; ++k) b.at_least_zero(B::at({{k + 1, 1}, {k, -1}}));
  Shape shape(10, 20);
  b.write(shape, at);
  b.value(b.read({20}, {B::at({{9, 1}, {0, -1}}, strict ? -1 : 0)}));
  return b.build();
}

ir::Operator below_diagonal(std::int64_t sign, std::int64_t offset) {
  B b;
  auto n = b.parallel(0, 64), i = b.parallel(0, 512), j = b.parallel(0, 512);
  b.at_least_zero(B::at({{i, sign}, {j, -sign}}, offset));
  b.value(b.read({64, 512}, {var(n), B::at({{i, sign}, {j, -sign}}, offset)}));
  b.write({64, 512, 512}, {var(n), var(i), var(j)});
  return b.build();
}

// y[2*i + r] with r in 0..2 beside arbitrary coefficients that are no mixed radix: 3*i + 5*j is injective on 5 x 3.
ir::Operator coprime(std::int64_t n, std::int64_t m) {
  B b;
  auto i = b.parallel(0, n), j = b.parallel(0, m);
  b.write({}, {B::at({{i, m}, {j, n}})});
  b.value(b.zero());
  return b.build();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"grouped convolution", {8, 64, 30, 30, 30}, {grouped_convolution(61)}, true});
  all.push_back({"grouped convolution, one row short", {8, 64, 30, 30, 30}, {grouped_convolution(60)}, false});
  all.push_back({"flatten 10 dims", {std::int64_t{1} << 40}, {flatten(16, 0)}, true});
  all.push_back({"flatten 10 dims, overlapping", {60466176 - 5}, {flatten(6, -1)}, false});
  all.push_back({"flatten 10 dims, with holes", {60466176 + 5}, {flatten(6, 1)}, false});
  all.push_back({"simplex of 10 dims", Shape(10, 20), {simplex(false)}, false});
  all.push_back({"simplex of 10 dims, read outside", Shape(10, 20), {simplex(true)}, false});
  all.push_back({"two triangles", {64, 512, 512}, {below_diagonal(1, 0), below_diagonal(-1, -1)}, true});
  all.push_back({"two triangles, overlapping", {64, 512, 512}, {below_diagonal(1, 0), below_diagonal(-1, 0)}, false});
  all.push_back({"3*i + 5*j", {23}, {coprime(5, 3)}, false});
  all.push_back({"199*i + 211*j", {211 * 198 + 199 * 210 + 1}, {coprime(211, 199)}, false});
  Case interleaved{"16 interleaved writers", {1 << 20}, {}, true};
  for (int r = 0; r < 16; ++r) {
    B b;
    b.parallel(0, 1 << 16);
    b.write({}, {B::at({{0, 16}}, r)});
    interleaved.ops.push_back(b.build());
  }
  all.push_back(interleaved);
  Case concatenated{"500 concatenated writers", {500 * 7}, {}, true};
  for (int r = 0; r < 500; ++r) {
    B b;
    b.parallel(0, 7);
    b.write({}, {B::at({{0, -1}}, 7 * r + 6)});
    concatenated.ops.push_back(b.build());
  }
  all.push_back(concatenated);
  return all;
}

double milliseconds_of(Legality& legality, const Case& c, bool& legal) {
  auto begin = std::chrono::steady_clock::now();
  std::vector<Writer> writers;
  legal = true;
  for (const ir::Operator& op : c.ops) {
    legal = legal && !legality.check_reads(op);
    writers.push_back({&op, 0});
  }
  legal = !legality.check_writes(c.shape, writers) && legal;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

TEST(LegalitySpeed, OfOneQuestion) {
  for (const Case& c : cases()) {
    double times[2] = {0, 0};
    for (bool closed_forms : {true, false}) {
      if (!closed_forms && c.ops.size() > 100) continue;
      Legality legality({closed_forms});
      bool legal;
      times[closed_forms] = milliseconds_of(legality, c, legal);
      EXPECT_EQ(legal, c.legal) << c.name;
    }
    printf("%-40s %8.2f ms, by isl alone %8.2f ms\n", c.name.c_str(), times[1], times[0]);
    EXPECT_LT(times[1], 200) << c.name;
  }
}

TEST(LegalitySpeed, OfTwoThousandDistinctEquations) {
  Legality legality;
  auto begin = std::chrono::steady_clock::now();
  for (std::int64_t n = 1; n <= 2000; ++n) {  // y[i] = if i < n then x[i - j] …, y[i] for i >= n
    B lower, upper;
    for (B* b : {&lower, &upper}) {
      b->parallel(0, 4000);
      b->parallel(0, 8);
      b->write({4000, 8}, {var(0), var(1)});
    }
    lower.at_least_zero(B::at({{0, -1}, {1, -1}}, n));
    upper.at_least_zero(B::at({{0, 1}, {1, 1}}, -n - 1));
    ir::CellId x = upper.read({4000}, {B::at({{0, 1}, {1, 1}}, -n - 1)});
    ir::CellId inside = upper.less(upper.number(B::at({{0, 1}, {1, 1}}, -n - 1)), upper.number(4000));
    upper.value(upper.choose(inside, x, upper.zero()));
    ir::Operator a = lower.build(), b = upper.build();
    EXPECT_FALSE(legality.check_reads(b));
    EXPECT_FALSE(legality.check_writes({4000, 8}, {{&a, 0}, {&b, 0}}));
  }
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  printf("%zu questions to isl in %.2f s\n", legality.statistics().by_isl, seconds);
  EXPECT_LT(seconds, 30);
}

}  // namespace
}  // namespace tap
