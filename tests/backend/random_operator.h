// A legal operator out of a sequence of choices: reads lie inside or are bounded, distinct points write distinct cells.
// A shorter sequence, or smaller numbers in it, give a simpler operator, which is what rapidcheck shrinks towards.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/ir/build.h"

namespace tap::backend::test {

using namespace tap::ir;
using namespace tap::ir::test;

class Choices {
 public:
  explicit Choices(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  // One of 0 … n-1; 0 when the sequence is used up.
  std::int64_t operator()(std::int64_t n) { return at_ < bytes_.size() ? bytes_[at_++] % n : 0; }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

class RandomOperator {
 public:
  RandomOperator(Program& program, Choices& choose) : program_(program), choose_(choose) {}

  Operator make() {
    add_dims();
    add_constraints();
    add_result();
    CellId value = cell(3);
    if (!reduces()) return b_.map({value});
    if (choose_(3) == 0) value = only_where_equal(value);
    return b_.reduce(add_monoid(program_, monoid_name(), i64), {value});
  }

  // y[…, p] = reduce[r in ..p + c] …: chance alone makes too few of them. What is reduced may not depend on p, or on how
  // many points there are beside it.
  Operator make_scan() {
    std::int64_t others = choose_(2);
    for (std::int64_t d = 0; d < others; ++d) parallel_.push_back(b_.parallel("p" + std::to_string(d), extent()));
    std::uint32_t runs = b_.parallel("s", 1 + extent());
    reductions_ = 1;
    std::uint32_t reduced = b_.reduction("r0", 1 + extent());
    Linear ahead = b_[runs] - b_[reduced] + (choose_(5) - 2);
    b_.require_at_least_zero(choose_(2) ? ahead : -1 * ahead);
    for (std::uint32_t d = 0; d < b_.op.dims.size(); ++d)
      if (d != runs) readable_.push_back(d);
    parallel_.push_back(runs);
    add_result();
    return b_.reduce(add_monoid(program_, monoid_name(), i64), {cell(2)});
  }

  // y[p, …] = reduce[r] if ids[r] == p then … else the monoid's identity
  Operator make_scatter() {
    parallel_.push_back(b_.parallel("p0", extent()));
    if (choose_(2)) parallel_.push_back(b_.parallel("p1", extent()));
    reductions_ = 1;
    std::uint32_t reduced = b_.reduction("r0", extent());
    add_result();
    CellId value = cell(2);
    readable_ = {reduced};
    value = only_where_equal(value);
    return b_.reduce(add_monoid(program_, monoid_name(), i64), {value});
  }

 private:
  bool reduces() const { return reductions_ > 0; }
  // The one monoid whose identity is 0 also serves scatters.
  const char* monoid_name() {
    const char* names[] = {"sum", "max", "min", "prod"};
    return scatters_ ? "sum" : names[choose_(4)];
  }

  void add_dims() {
    std::int64_t parallel = 1 + choose_(3);
    reductions_ = choose_(3);
    for (std::int64_t d = 0; d < parallel; ++d) parallel_.push_back(b_.parallel("p" + std::to_string(d), extent()));
    for (std::int64_t d = 0; d < reductions_; ++d) b_.reduction("r" + std::to_string(d), extent());
  }
  std::int64_t extent() { return (choose_(8) + 3) % 8; }

  std::uint32_t random_index() {
    if (readable_.empty()) return static_cast<std::uint32_t>(choose_(static_cast<std::int64_t>(b_.op.dims.size())));
    return readable_[static_cast<std::size_t>(choose_(static_cast<std::int64_t>(readable_.size())))];
  }
  Linear random_dim() { return b_[random_index()]; }
  void add_constraints() {
    for (std::int64_t n = choose_(3); n > 0; --n) {
      Linear e = random_dim() - (1 + choose_(2)) * random_dim() + (choose_(7) - 2);
      if (choose_(2)) e = -1 * e;
      if (choose_(5) == 4) b_.require_zero(e);
      else b_.require_at_least_zero(e);
    }
  }

  // Each parallel dim has an axis of its own, maybe reversed, strided or shifted.
  void add_result() {
    Shape shape;
    std::vector<Linear> rows;
    for (std::uint32_t d : parallel_) {
      std::int64_t n = b_.op.dims[d].range.hi, stride = 1 + choose_(2), shift = choose_(2);
      bool reversed = choose_(3) == 2;
      rows.push_back(reversed ? at_constant(stride * (n > 0 ? n - 1 : 0) + shift) - stride * b_[d]
                              : stride * b_[d] + shift);
      shape.push_back(stride * n + shift);
    }
    b_.result(i64, shape, rows);
  }

  // A read of a new operand. Its axes are as long as the coordinates need, or shorter and then there is a fill.
  CellId read() {
    Shape shape;
    std::vector<Linear> rows;
    bool bounded = choose_(3) == 2;
    for (std::int64_t axis = choose_(3); axis > 0; --axis) {
      Linear row = random_dim();
      if (choose_(2)) row = row + random_dim();
      if (choose_(4) == 3) row = -1 * row;
      rows.push_back(row);
      shape.push_back(bounded ? choose_(5) : 0);
    }
    for (std::size_t axis = 0; axis < rows.size(); ++axis) {
      Range values{0, 1};
      for (auto [dim, factor] : rows[axis].terms) {
        std::int64_t last = std::max<std::int64_t>(b_.op.dims[dim].range.hi - 1, 0) * factor;
        values = {values.lo + std::min<std::int64_t>(last, 0), values.hi + std::max<std::int64_t>(last, 0)};
      }
      if (bounded) continue;
      rows[axis] = rows[axis] - values.lo;
      shape[axis] = values.size();
    }
    std::uint32_t tensor = b_.operand(i64, shape);
    return b_.read(tensor, rows, bounded ? std::optional(b_.literal(i64, 100)) : std::nullopt);
  }

  CellId cell(int depth) {
    if (depth == 0 || choose_.done()) return choose_(3) == 1 ? b_.index(random_index()) : read();
    switch (choose_(6)) {
      case 0: return read();
      case 1: return b_.literal(i64, static_cast<double>(choose_(9) - 4));
      case 2: return division(cell(depth - 1), cell(depth - 1));
      case 3: return b_.apply(CellOp::select, {condition(depth - 1), cell(depth - 1), cell(depth - 1)});
      default: break;
    }
    constexpr CellOp ops[] = {CellOp::add, CellOp::sub, CellOp::mul, CellOp::min, CellOp::max, CellOp::bitxor_};
    CellId first = cell(depth - 1);
    return b_.apply(ops[choose_(6)], {first, cell(depth - 1)});
  }
  // if y != 0 then x / y (or x % y) else x: the choice must keep the failure away.
  CellId division(CellId x, CellId y) {
    CellId quotient = b_.apply(choose_(2) ? CellOp::div : CellOp::mod, {x, y});
    return b_.apply(CellOp::select, {b_.apply(CellOp::not_equal, {y, b_.literal(i64, 0)}), quotient, x});
  }
  CellId condition(int depth) {
    CellId a = cell(depth > 0 ? depth - 1 : 0), c = b_.literal(i64, static_cast<double>(choose_(5)));
    CellId less = b_.apply(CellOp::less, {a, c});
    return choose_(2) ? less : b_.apply(CellOp::logical_or, {b_.apply(CellOp::equal, {a, c}), less});
  }
  // if e == v then value else 0, with e of the data, in one of several spellings.
  CellId only_where_equal(CellId value) {
    scatters_ = true;
    CellId e = read(), v = b_.index(parallel_[0]), zero = b_.literal(i64, 0);
    std::int64_t shift = choose_(5) - 1;
    if (choose_(3) == 2) v = b_.apply(CellOp::sub, {b_.literal(i64, static_cast<double>(shift)), v});
    else if (shift > 0) v = b_.apply(CellOp::add, {v, b_.literal(i64, static_cast<double>(shift))});
    if (choose_(3) == 2) std::tie(e, v) = std::pair(b_.cast(e, i32), b_.cast(v, i32));
    if (choose_(4) == 3) return b_.apply(CellOp::select, {b_.apply(CellOp::not_equal, {v, e}), zero, value});
    CellId hit = b_.apply(CellOp::equal, {e, v});
    if (choose_(4) == 3) hit = b_.apply(CellOp::logical_and, {condition(0), hit});
    if (choose_(4) == 3) hit = b_.apply(CellOp::logical_and, {hit, condition(0)});
    return b_.apply(CellOp::select, {hit, value, zero});
  }

  Program& program_;
  Choices& choose_;
  Build b_{"y"};
  std::int64_t reductions_ = 0;
  bool scatters_ = false;
  std::vector<std::uint32_t> parallel_;
  std::vector<std::uint32_t> readable_;  // the dims that cells may depend on; all if empty
};

}  // namespace tap::backend::test
