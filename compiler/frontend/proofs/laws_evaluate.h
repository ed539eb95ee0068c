// The laws of a monoid as questions about states, over any algebra of values: fractions and intervals (samples),
// symbols and normal forms (proofs). Conditions (`if`, `and`, `or`) are decided by the algebra: numbers evaluate
// them, symbols follow one path.
//
//   struct Algebra {
//     using Value = …;
//     Value constant(const ir::Scalar&);
//     Value apply(const ir::CellNode&, const std::vector<Value>& args);  // strict cells
//     bool truth(const Value&);                                          // decides a bool, or instead …
//     Value choose(const Value& c, const Value& a, const Value& b);      // … what `if c then a else b` is
//     Answer agree(const Value&, const Value&, int infinity);            // the two sides; the identity's infinity there
//   };
//
// An algebra throws NoValue where a program would stop (an integer division by zero), and NotKnown where it cannot
// decide.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "support/check.h"

namespace tap {

// Whether every value of float type `from` is a value of `to`.
inline bool widens(ElementType from, ElementType to) { return from == to || size_of(from) < size_of(to); }

struct NoValue {};
struct NotKnown {};

// The answer to a question, or for two values. `not_known`: it depends on rounding, overflow or the sign of a zero.
enum class Answer : std::uint8_t { holds, fails, not_known };

const ir::Monoid& monoid_of(const ir::Program& program, ir::MonoidId id);  // in laws.cpp

template <class Algebra>
class CellEvaluator {
 public:
  using Value = typename Algebra::Value;
  using State = std::vector<Value>;  // one value per component

  CellEvaluator(const ir::Program& program, Algebra& algebra) : program_(program), algebra_(algebra) {}

  State identity(const ir::Monoid& m) { return run(m.exprs, m.identity, {{}}); }
  State combine(const ir::Monoid& m, const State& a, const State& b) {
    State arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    return run(m.exprs, m.combine, {arguments});
  }
  State fold(const ir::Monoid& m, const std::vector<State>& elements) {
    return run(m.fold->exprs, m.fold->roots, elements);
  }

 private:
  // One evaluation: the arguments at each index, and the results so far by cell and index.
  struct Run {
    const ir::CellExprs& exprs;
    const std::vector<State>& arguments;
    std::vector<std::optional<Value>> known;
  };

  State run(const ir::CellExprs& exprs, const std::vector<ir::CellId>& roots, const std::vector<State>& arguments) {
    Run run{exprs, arguments, std::vector<std::optional<Value>>(exprs.size() * arguments.size())};
    State result;
    for (ir::CellId root : roots) result.push_back(value(run, root, 0));
    return result;
  }

  Value value(Run& run, ir::CellId cell, std::size_t index) {
    std::optional<Value>& known = run.known[cell.index() * run.arguments.size() + index];
    if (!known) known = find_value(run, run.exprs[cell], index);
    return *known;
  }
  Value find_value(Run& run, const ir::CellNode& node, std::size_t index) {
    auto arg = [&](std::size_t k) { return value(run, node.args[k], index); };
    switch (node.op) {
      case ir::CellOp::constant: return algebra_.constant(node.value);
      case ir::CellOp::argument: return run.arguments[index].at(node.attribute);
      case ir::CellOp::select:
        return chosen(
            arg(0), [&] { return arg(1); }, [&] { return arg(2); });
      case ir::CellOp::logical_and:
        return chosen(
            arg(0), [&] { return arg(1); }, [&] { return truth_value(false); });
      case ir::CellOp::logical_or:
        return chosen(
            arg(0), [&] { return truth_value(true); }, [&] { return arg(1); });
      case ir::CellOp::reduce: return reduced(run, node);
      default: break;
    }
    TAP_CHECK(node.op != ir::CellOp::index && node.op != ir::CellOp::read, "a monoid reads no tensor");
    std::vector<Value> args;
    for (std::size_t k = 0; k < node.args.size(); ++k) args.push_back(arg(k));
    return algebra_.apply(node, args);
  }
  template <class Then, class Else>
  Value chosen(const Value& condition, Then then, Else otherwise) {
    if constexpr (requires { algebra_.choose(condition, condition, condition); })
      return algebra_.choose(condition, then(), otherwise());
    else return algebra_.truth(condition) ? then() : otherwise();
  }
  Value truth_value(bool value) { return algebra_.constant(ir::Scalar::boolean(value)); }

  // Over all indices, of which there is at least one.
  Value reduced(Run& run, const ir::CellNode& node) {
    const ir::Monoid& monoid = monoid_of(program_, ir::MonoidId(node.attribute));
    State sum{value(run, node.args[0], 0)};
    for (std::size_t index = 1; index < run.arguments.size(); ++index) {
      sum = combine(monoid, sum, {value(run, node.args[0], index)});
    }
    return sum[0];
  }

  const ir::Program& program_;
  Algebra& algebra_;
};

template <class State>
struct Judgement {
  Answer answer = Answer::not_known;
  State left, right;  // for a failure: the values of both sides; empty: the program stops there
};

// Both sides of a law must have the same value, component by component. NaN, and an infinity that the identity does not
// have, are undefined: if one side is, so must be the other.
template <class Algebra>
class LawQuestions {
 public:
  using State = typename CellEvaluator<Algebra>::State;
  using Verdict = Judgement<State>;

  // `infinities`: of the identity, by component: -1, 0, 1.
  LawQuestions(const ir::Program& program, const ir::Monoid& monoid, Algebra& algebra, std::vector<int> infinities)
      : monoid_(monoid),
        algebra_(algebra),
        evaluate_(program, algebra),
        infinities_(std::move(infinities)),
        identity_(evaluate_.identity(monoid)) {}

  Verdict identity(const State& a) {
    Verdict left = compare([&] { return combine(identity_, a); }, [&] { return a; });
    if (left.answer != Answer::holds) return left;
    return compare([&] { return combine(a, identity_); }, [&] { return a; });
  }
  Verdict associative(const State& a, const State& b, const State& c) {
    return compare([&] { return combine(combine(a, b), c); }, [&] { return combine(a, combine(b, c)); });
  }
  Verdict commutative(const State& a, const State& b) {
    return compare([&] { return combine(a, b); }, [&] { return combine(b, a); });
  }
  // fold([x]) = x, and fold(xs ++ ys) = combine(fold xs, fold ys); `ys` is empty for the first.
  Verdict fold(const std::vector<State>& xs, const std::vector<State>& ys) {
    if (ys.empty()) return compare([&] { return evaluate_.fold(monoid_, xs); }, [&] { return xs[0]; });
    std::vector<State> all = xs;
    all.insert(all.end(), ys.begin(), ys.end());
    return compare([&] { return evaluate_.fold(monoid_, all); },
                   [&] { return combine(evaluate_.fold(monoid_, xs), evaluate_.fold(monoid_, ys)); });
  }

 private:
  State combine(const State& a, const State& b) { return evaluate_.combine(monoid_, a, b); }

  template <class Left, class Right>
  Verdict compare(Left left_side, Right right_side) {
    try {
      std::optional<State> left = attempt(left_side), right = attempt(right_side);
      if (!left && !right) return {Answer::holds, {}, {}};
      if (!left || !right) return {Answer::fails, left.value_or(State{}), right.value_or(State{})};
      Answer all = Answer::holds;
      for (std::size_t k = 0; k < left->size(); ++k) {
        Answer one = algebra_.agree((*left)[k], (*right)[k], infinities_[k]);
        if (one == Answer::fails) return {Answer::fails, *left, *right};
        if (one == Answer::not_known) all = one;
      }
      return {all, {}, {}};
    } catch (const NotKnown&) { return {}; }
  }
  template <class Side>
  static std::optional<State> attempt(Side side) {
    try {
      return side();
    } catch (const NoValue&) { return std::nullopt; }
  }

  const ir::Monoid& monoid_;
  Algebra& algebra_;
  CellEvaluator<Algebra> evaluate_;
  std::vector<int> infinities_;
  State identity_;
};

}  // namespace tap
