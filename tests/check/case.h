// A step with what it claims, for the tests of the checker, and the operators that such steps are made of.
#pragma once

#include "check/check.h"
#include "ir/graph.h"
#include "ir/graphs/program_hash.h"
#include "tests/ir/build.h"

namespace tap::check::cases {

using namespace ir;
using namespace ir::test;

struct Case {
  std::string name;
  Program before, after;
  Step step;
};

// With the hashes computed anew, so that only the obligation itself can object.
inline Verdict verdict_of(const Case& c) {
  Step step = c.step;
  step.before = hash_of(c.before);
  step.after = hash_of(c.after);
  return check({{step}}, {{&c.before, step.before}, {&c.after, step.after}});
}
inline std::string refusals(const Verdict& verdict) {
  std::string text;
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused)
      text += std::string(name_of(f.obligation)) + " at " + f.where + ": " + f.detail + "\n";
  return text;
}
// The obligation that objects first; empty if none does.
inline std::string first_refusal(const Verdict& verdict) {
  for (const Finding& f : verdict.findings)
    if (f.standing == Standing::refused) return std::string(name_of(f.obligation));
  return "";
}

inline ValueRef value(std::uint32_t v) { return {{}, ValueId(v), {}}; }
inline OperationRef operation(std::uint32_t o) { return {{}, OperationId(o)}; }
inline GraphClaim claim(std::vector<std::optional<ValueRef>> values, std::vector<Justification> operations) {
  return {GraphId(0), GraphId(0), std::move(values), std::move(operations), {}};
}

inline constexpr std::int64_t n = 8;

// y[i] = f(x[i], …) over i64[8].
template <class F>
Operator pointwise(std::string name, std::size_t operands, F f) {
  Build b(std::move(name));
  auto i = b.parallel("i", n);
  std::vector<CellId> reads;
  for (std::size_t k = 0; k < operands; ++k) reads.push_back(b.read(b.operand(i64, {n}), {b[i]}));
  b.result(i64, {n}, {b[i]});
  return b.map({f(b, reads)});
}
inline Operator scaled(double by) {
  return pointwise("scaled", 1, [by](Build& b, auto& x) { return b.apply(CellOp::mul, {x[0], b.literal(i64, by)}); });
}
inline Operator sum_of_two() {
  return pointwise("plus", 2, [](Build& b, auto& x) { return b.apply(CellOp::add, {x[0], x[1]}); });
}
// y[i] = x[i - 1 else 0] + x[i + 1 else 0]
inline Operator neighbours() {
  Build b("neighbours");
  auto i = b.parallel("i", n);
  auto x = b.operand(i64, {n});
  auto zero = b.literal(i64, 0);
  auto left = b.read(x, {b[i] - 1}, zero), right = b.read(x, {b[i] + 1}, zero);
  b.result(i64, {n}, {b[i]});
  return b.map({b.apply(CellOp::add, {left, right})});
}

// A main graph over one input x: i64[8], with inner graphs before it.
inline Case chain(std::string name) { return {std::move(name), {}, {}, {"by_hand", {}, {}, {}}}; }
inline void finish(Program& p, BuildGraph& g, std::vector<ValueId> outputs) { p.main = g.finish(std::move(outputs)); }

}  // namespace tap::check::cases
