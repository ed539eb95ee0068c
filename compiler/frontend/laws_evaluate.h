// The laws of a monoid as questions about three values, over any algebra of values: numbers (sampling) or symbols (proof).
// Where a condition must be decided to go on (`if`, `and`, `or`), the algebra decides: numbers know, symbols follow one path.
//
//   struct Algebra {
//     using Value = …;
//     Value constant(const ir::Scalar&);
//     Value apply(const ir::CellNode&, const std::vector<Value>& args);  // strict cells
//     bool truth(const Value&);                         // decides a bool
//     bool all_same(const State&, const State&);        // decides whether two states are equal, …
//     bool partly_same(const State&, const State&, const std::vector<bool>& counted);  // … or only in some of these
//     bool agree(const Value&, const Value&);           // are they equal, as far as a law asks? Symbols: is that proved?
//     bool is_nan(const Value&);
//     int infinity(const Value&);                       // -1, 0, +1
//   };
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "support/check.h"

namespace tap {

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
  // One evaluation: the arguments at each index, and what was found so far by cell and index.
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
      case ir::CellOp::select: return algebra_.truth(arg(0)) ? arg(1) : arg(2);
      case ir::CellOp::logical_and:
        return algebra_.truth(arg(0)) ? arg(1) : algebra_.constant(ir::Scalar::boolean(false));
      case ir::CellOp::logical_or:
        return algebra_.truth(arg(0)) ? algebra_.constant(ir::Scalar::boolean(true)) : arg(1);
      case ir::CellOp::reduce: return reduced(run, node);
      default: break;
    }
    TAP_CHECK(node.op != ir::CellOp::index && node.op != ir::CellOp::read, "a monoid reads no tensor");
    std::vector<Value> args;
    for (std::size_t k = 0; k < node.args.size(); ++k) args.push_back(arg(k));
    return algebra_.apply(node, args);
  }
  // Over all indices; there is at least one.
  Value reduced(Run& run, const ir::CellNode& node) {
    const ir::Monoid& monoid = program_[ir::MonoidId(node.attribute)];
    State sum{value(run, node.args[0], 0)};
    for (std::size_t index = 1; index < run.arguments.size(); ++index) {
      sum = combine(monoid, sum, {value(run, node.args[0], index)});
    }
    return sum[0];
  }

  const ir::Program& program_;
  Algebra& algebra_;
};

enum class Answer : std::uint8_t { holds, fails, not_asked };

template <class State>
struct Judgement {
  Answer answer = Answer::not_asked;
  State left, right;  // of a failure: what the two sides give
};

// Laws are asked of numbers: not where NaN (or an infinity that is not an identity) comes up on the way. Nor are they asked
// of states of several components that the monoid itself takes for the identity though they are not, because of a component
// that is a finite number there: a Welford state (n, mean, m2) = (0, 5, 3) combined with (0, 0, 0) gives (0, 0, 0), and two
// states of n = 1 and n = -1 cancel to nothing. No element of a reduction is such a state, and the guard `if n == 0` of such
// monoids means the identity alone. An infinity is no such mark: (-inf, 5) is an element of an argmax wherever a score is
// masked, so the identity (-inf, -1), which swallows it, is wrong, and (-inf, i64.max) is right.
template <class Algebra>
class LawQuestions {
 public:
  using State = typename CellEvaluator<Algebra>::State;
  using Verdict = Judgement<State>;

  // `strict` asks of all numbers; else not of states that pass for the identity.
  LawQuestions(const ir::Program& program, const ir::Monoid& monoid, Algebra& algebra, bool strict)
      : monoid_(monoid),
        algebra_(algebra),
        evaluate_(program, algebra),
        strict_(strict),
        identity_(evaluate_.identity(monoid)) {
    for (const auto& component : identity_) finite_.push_back(algebra.infinity(component) == 0);
  }

  Verdict identity(const State& a) {
    if (!strict_ && passes_for_identity(a)) return {};
    Verdict left = compare(evaluate_.combine(monoid_, identity_, a), a);
    return left.answer == Answer::fails ? left : compare(evaluate_.combine(monoid_, a, identity_), a);
  }
  Verdict associative(const State& a, const State& b, const State& c) {
    if (!strict_ && (passes_for_identity(a) || passes_for_identity(b) || passes_for_identity(c))) return {};
    State ab = evaluate_.combine(monoid_, a, b), bc = evaluate_.combine(monoid_, b, c);
    if (!is_asked(ab) || !is_asked(bc)) return {};
    if (!strict_ && (cancels(a, b, ab) || cancels(b, c, bc))) return {};
    return compare_numbers(evaluate_.combine(monoid_, ab, c), evaluate_.combine(monoid_, a, bc));
  }
  Verdict commutative(const State& a, const State& b) {
    if (!strict_ && (passes_for_identity(a) || passes_for_identity(b))) return {};
    State ab = evaluate_.combine(monoid_, a, b), ba = evaluate_.combine(monoid_, b, a);
    if (!strict_ && cancels(a, b, ab)) return {};
    return compare_numbers(ab, ba);
  }
  // fold([x]) = x, and fold(xs ++ ys) = combine(fold xs, fold ys); `ys` is empty for the first.
  Verdict fold(const std::vector<State>& xs, const std::vector<State>& ys) {
    for (const std::vector<State>* part : {&xs, &ys}) {
      for (const State& x : *part) {
        if (!strict_ && passes_for_identity(x)) return {};
      }
    }
    State left = evaluate_.fold(monoid_, xs);
    if (ys.empty()) return compare(left, xs[0]);
    std::vector<State> all = xs;
    all.insert(all.end(), ys.begin(), ys.end());
    return compare_numbers(evaluate_.fold(monoid_, all), evaluate_.combine(monoid_, left, evaluate_.fold(monoid_, ys)));
  }

 private:
  bool is_asked(const State& s) {
    for (std::size_t k = 0; k < s.size(); ++k) {
      if (algebra_.is_nan(s[k])) return false;
      int infinity = algebra_.infinity(s[k]);
      if (infinity != 0 && infinity != algebra_.infinity(identity_[k])) return false;
    }
    return true;
  }
  bool is(const State& a, const State& b) { return algebra_.all_same(a, b); }
  bool passes_for_identity(const State& s) {
    if (s.size() < 2) return false;
    bool vanishes = is(evaluate_.combine(monoid_, s, identity_), identity_) ||
                    is(evaluate_.combine(monoid_, identity_, s), identity_);
    return vanishes && algebra_.partly_same(s, identity_, finite_);
  }
  bool cancels(const State& a, const State& b, const State& ab) {
    if (ab.size() < 2) return false;
    return passes_for_identity(ab) || (is(ab, identity_) && !(is(a, identity_) && is(b, identity_)));
  }
  Verdict compare_numbers(const State& left, const State& right) {
    return is_asked(left) && is_asked(right) ? compare(left, right) : Verdict{};
  }
  Verdict compare(const State& left, const State& right) {
    for (std::size_t k = 0; k < left.size(); ++k) {
      if (!algebra_.agree(left[k], right[k])) return {Answer::fails, left, right};
    }
    return {Answer::holds, {}, {}};
  }

  const ir::Monoid& monoid_;
  Algebra& algebra_;
  CellEvaluator<Algebra> evaluate_;
  bool strict_;
  State identity_;
  std::vector<bool> finite_;  // which components of the identity are
};

}  // namespace tap
