// Questions of legality that are hard for their size, by hand: for the test and the benchmark of how long a proof takes.
#pragma once

#include <string>
#include <vector>

#include "tests/frontend/build_operator.h"

namespace tap::testing {

struct LegalityCase {
  std::string name;
  Shape shape;
  std::vector<ir::Operator> ops;
  bool legal;
};

inline ir::AffineExpr var(std::uint32_t d, std::int64_t offset = 0) { return OperatorBuilder::at({{d, 1}}, offset); }

// y[b, g*16 + o, z, y, x] = sum[c, u, v, w] x[b, g*8 + c, 2*z + u, y + v, x + w] * …, 10 dims in all
inline ir::Operator grouped_convolution(std::int64_t z_extent) {
  OperatorBuilder b;
  auto n = b.parallel(0, 8), g = b.parallel(0, 4), o = b.parallel(0, 16), z = b.parallel(0, 30), y = b.parallel(0, 30),
       x = b.parallel(0, 30), c = b.reduction(0, 8), u = b.reduction(0, 3), v = b.reduction(0, 3),
       w = b.reduction(0, 3);
  b.value(b.read({8, 32, z_extent, 32, 32},
                 {var(n), OperatorBuilder::at({{g, 8}, {c, 1}}), OperatorBuilder::at({{z, 2}, {u, 1}}),
                  OperatorBuilder::at({{y, 1}, {v, 1}}), OperatorBuilder::at({{x, 1}, {w, 1}})}));
  b.write({8, 64, 30, 30, 30}, {var(n), OperatorBuilder::at({{g, 16}, {o, 1}}), var(z), var(y), var(x)});
  return b.build();
}

// A flattening of 10 dims of the given size in mixed radix, its last coefficient off by `shift`.
inline ir::Operator flatten(std::int64_t n, std::int64_t shift) {
  OperatorBuilder b;
  OperatorBuilder::Terms terms;
  std::int64_t stride = 1;
  for (int k = 0; k < 10; ++k, stride *= n) terms.push_back({b.parallel(0, n), stride + (k == 9 ? shift : 0)});
  std::int64_t whole = stride + shift * (n - 1);
  b.value(b.read({whole}, {OperatorBuilder::at(terms)}));
  b.write({whole}, {OperatorBuilder::at(terms)});
  return b.build();
}

// Ten dims that all lie in one order: i0 <= i1 <= … <= i9.
inline ir::Operator simplex(bool strict) {
  OperatorBuilder b;
  std::vector<ir::AffineExpr> at;
  for (std::uint32_t k = 0; k < 10; ++k) at.push_back(var(b.parallel(0, 20)));
  for (std::uint32_t k = 0; k + 1 < 10; ++k) b.at_least_zero(OperatorBuilder::at({{k + 1, 1}, {k, -1}}));
  Shape shape(10, 20);
  b.write(shape, at);
  b.value(b.read({20}, {OperatorBuilder::at({{9, 1}, {0, -1}}, strict ? -1 : 0)}));
  return b.build();
}

inline ir::Operator below_diagonal(std::int64_t sign, std::int64_t offset) {
  OperatorBuilder b;
  auto n = b.parallel(0, 64), i = b.parallel(0, 512), j = b.parallel(0, 512);
  b.at_least_zero(OperatorBuilder::at({{i, sign}, {j, -sign}}, offset));
  b.value(b.read({64, 512}, {var(n), OperatorBuilder::at({{i, sign}, {j, -sign}}, offset)}));
  b.write({64, 512, 512}, {var(n), var(i), var(j)});
  return b.build();
}

// y[2*i + r] with r in 0..2 beside arbitrary coefficients that are no mixed radix: 3*i + 5*j is injective on 5 x 3.
inline ir::Operator coprime(std::int64_t n, std::int64_t m) {
  OperatorBuilder b;
  auto i = b.parallel(0, n), j = b.parallel(0, m);
  b.write({}, {OperatorBuilder::at({{i, m}, {j, n}})});
  b.value(b.zero());
  return b.build();
}

inline std::vector<LegalityCase> legality_cases() {
  std::vector<LegalityCase> all;
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
  LegalityCase interleaved{"16 interleaved writers", {1 << 20}, {}, true};
  for (int r = 0; r < 16; ++r) {
    OperatorBuilder b;
    b.parallel(0, 1 << 16);
    b.write({}, {OperatorBuilder::at({{0, 16}}, r)});
    interleaved.ops.push_back(b.build());
  }
  all.push_back(interleaved);
  LegalityCase concatenated{"500 concatenated writers", {500 * 7}, {}, true};
  for (int r = 0; r < 500; ++r) {
    OperatorBuilder b;
    b.parallel(0, 7);
    b.write({}, {OperatorBuilder::at({{0, -1}}, 7 * r + 6)});
    concatenated.ops.push_back(b.build());
  }
  all.push_back(concatenated);
  return all;
}

}  // namespace tap::testing
