// The paths through a law in laws_symbols.h: the conditions decided on each, and the queries to Z3.
#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

#include "compiler/frontend/proofs/laws_symbols.h"

namespace tap {

using ir::CellOp;
using Value = SymbolAlgebra::Value;

namespace {

// Limits for one query, in Z3's own units of work. laws.h has the limit for a whole proof.
constexpr unsigned decision_work = 200'000, proof_work = 3'000'000;

bool is_constant(const z3::expr& e) {
  return e.is_numeral() || (e.is_app() && e.num_args() == 1 && is_constant(e.arg(0)));
}

// Whether a term has no product or quotient of symbols. Linear conditions are decided quickly; others need another
// solver. Z3 shares terms, so each is visited once.
class Linearity {
 public:
  bool is_linear(const z3::expr& e) {
    if (auto known = known_.find(e.id()); known != known_.end()) return known->second;
    bool result = find(e);
    known_.emplace(e.id(), result);
    return result;
  }

 private:
  bool find(const z3::expr& e) {
    if (!e.is_app()) return false;
    auto kind = e.decl().decl_kind();
    if (kind == Z3_OP_POWER || (kind == Z3_OP_DIV && !is_constant(e.arg(1)))) return false;
    unsigned symbols = 0;
    for (unsigned k = 0; k < e.num_args(); ++k) {
      if (!is_linear(e.arg(k))) return false;
      symbols += !is_constant(e.arg(k));
    }
    return kind != Z3_OP_MUL || symbols <= 1;
  }

  std::unordered_map<unsigned, bool> known_;  // by Z3's id of the term
};

bool is_linear(const z3::expr& e) { return Linearity().is_linear(e); }

}  // namespace

SymbolAlgebra::SymbolAlgebra(IntegerModel integers, std::uint64_t& steps)
    : integers_(integers), steps_(steps), sums_of_monomials_(z3_), feasible_(z3_, z3::solver::simple()) {
  sums_of_monomials_.set("som", true);
  sums_of_monomials_.set("sort_sums", true);
  z3::params limits(z3_);
  limits.set("rlimit", decision_work);
  feasible_.set(limits);
}

void SymbolAlgebra::spend(std::uint64_t steps) {
  if (steps_ < steps) throw GaveUp{"the proof exceeds its step limit"};
  steps_ -= steps;
}

// Z3 counts the work per context.
void SymbolAlgebra::charge(const z3::solver& solver) {
  z3::stats counts = solver.statistics();
  for (unsigned k = 0; k < counts.size(); ++k) {
    if (counts.key(k) != "rlimit count") continue;
    std::uint64_t done = counts.is_uint(k) ? counts.uint_value(k) : static_cast<std::uint64_t>(counts.double_value(k));
    if (done <= z3_steps_) return;
    std::uint64_t new_steps = done - z3_steps_;
    z3_steps_ = done;
    return spend(new_steps);
  }
}

void SymbolAlgebra::begin_path() {
  at_ = 0;
  facts_.clear();
  linear_facts_.clear();
  tested_.clear();
}

// Backtracks to the last decision whose other branch was not followed.
bool SymbolAlgebra::next_path() {
  while (!path_.empty() && !path_.back().other_branch_feasible) path_.pop_back();
  if (path_.empty()) return false;
  path_.back() = {!path_.back().value, false};
  return true;
}

void SymbolAlgebra::assume(const z3::expr& fact) {
  facts_.push_back(fact);
  if (is_linear(fact)) linear_facts_.push_back(fact);
}

// A path starts like the previous one: their common prefix stays asserted.
void SymbolAlgebra::assert_linear_facts() {
  std::size_t same = 0;
  while (same < std::min(asserted_.size(), linear_facts_.size()) && z3::eq(asserted_[same], linear_facts_[same]))
    ++same;
  if (same < asserted_.size()) feasible_.pop(static_cast<unsigned>(asserted_.size() - same));
  asserted_.erase(asserted_.begin() + static_cast<std::ptrdiff_t>(same), asserted_.end());
  for (; same < linear_facts_.size(); ++same) {
    feasible_.push();
    feasible_.add(linear_facts_[same]);
    asserted_.push_back(linear_facts_[same]);
  }
}

// Unknown counts as possible: an extra path only costs time.
bool SymbolAlgebra::may_be(const z3::expr& condition) {
  if (!is_linear(condition)) return may_be_with_polynomials(condition, decision_work);
  assert_linear_facts();
  feasible_.push();
  feasible_.add(condition);
  bool possible = feasible_.check() != z3::unsat;
  feasible_.pop();
  charge(feasible_);
  return possible;
}

// For bit vectors only, a proof is about a circuit: with shared gates (aig), proving that a 32-bit adder is associative
// takes one second, without them ten. Otherwise a solver for polynomials.
z3::solver SymbolAlgebra::solver_for(const z3::expr& condition) {
  if (integers_ != IntegerModel::bits) return z3::solver(z3_);
  z3::goal all(z3_);
  for (const z3::expr& fact : facts_) all.add(fact);
  all.add(condition);
  if (z3::probe(z3_, "is-qfbv")(all) == 0) return z3::solver(z3_);
  z3::tactic simplify = z3::with(z3::tactic(z3_, "simplify"), sums_of_monomials_);
  return (simplify & z3::tactic(z3_, "bit-blast") & z3::tactic(z3_, "aig") & z3::tactic(z3_, "sat")).mk_solver();
}

// With a solver that takes longer to start.
bool SymbolAlgebra::may_be_with_polynomials(const z3::expr& condition, unsigned work, bool keep_model) {
  z3::solver solver = solver_for(condition);
  z3::params limits(z3_);
  limits.set("rlimit", work);
  solver.set(limits);
  for (const z3::expr& fact : facts_) solver.add(fact);
  solver.add(condition);
  z3::check_result answer = solver.check();
  if (keep_model && answer == z3::sat) refutation_ = solver.get_model();
  charge(solver);
  return answer != z3::unsat;
}

bool SymbolAlgebra::decide(const z3::expr& undecided) {
  z3::expr condition = undecided.simplify();
  if (condition.is_true()) return true;
  if (condition.is_false()) return false;
  if (at_ == path_.size()) {
    bool can_hold = may_be(condition), can_fail = !can_hold || may_be(!condition);
    path_.push_back({can_hold, can_hold && can_fail});
  }
  bool value = path_[at_++].value;
  assume(value ? condition : !condition);
  return value;
}

bool SymbolAlgebra::is_proved(const z3::expr& claim) {
  z3::expr simple = expand(claim);
  if (simple.is_true() || (is_linear(simple) && !may_be(!simple))) return true;
  return !may_be_with_polynomials(!simple, proof_work, true);
}

std::optional<ir::Scalar> SymbolAlgebra::refuting_value(const Value& symbol) {
  if (symbol.kind != Kind::finite)
    return ir::Scalar::floating(symbol.type, infinity(symbol) * std::numeric_limits<double>::infinity());
  if (!refutation_) return std::nullopt;
  z3::expr value = refutation_->eval(ratio(symbol), true);
  if (is_bool(symbol.type)) return ir::Scalar::boolean(value.is_true());
  if (!is_float(symbol.type)) {
    std::int64_t i = 0;
    std::uint64_t bits = 0;
    if (value.is_numeral_i64(i)) return ir::Scalar::integer(symbol.type, wrap(i, symbol.type));
    if (!value.is_numeral_u64(bits)) return std::nullopt;
    return ir::Scalar::integer(symbol.type, wrap(static_cast<std::int64_t>(bits), symbol.type));
  }
  if (!value.is_numeral() && !value.is_algebraic()) return std::nullopt;
  std::string digits = value.get_decimal_string(20);  // ends in `?` if there are more
  if (digits.ends_with('?')) digits.pop_back();
  double f = 0;
  auto read = std::from_chars(digits.data(), digits.data() + digits.size(), f);
  if (read.ec != std::errc()) return std::nullopt;
  return ir::Scalar::floating(symbol.type, f);
}

// Sides that are sums of atoms (logarithms among them) are also equal if their exponentials are.
bool SymbolAlgebra::are_equal(const Value& a, const Value& b) {
  if (a.kind != b.kind) return is_proved(z3_.bool_val(false));
  if (a.kind != Kind::finite) return true;
  if (!is_float(a.type)) return is_proved(a.top == b.top);
  z3::expr difference = expand(a.top * b.bottom - b.top * a.bottom);
  if ((difference == 0).simplify().is_true()) return true;
  assume_equal_powers();
  bool has_logarithm = a.linear && b.linear && (names_logarithm(*a.linear) || names_logarithm(*b.linear));
  if (!has_logarithm) return is_proved(difference == 0);
  Value x = exponential_of(a.type, *a.linear), y = exponential_of(b.type, *b.linear);
  return is_proved(x.top * y.bottom - y.top * x.bottom == 0);
}

bool SymbolAlgebra::names_logarithm(const Linear& linear) const {
  return std::any_of(linear.begin(), linear.end(), [&](const auto& term) { return atoms_[term.first].is_logarithm; });
}

// Symbols that are equal on this path have equal exponentials.
void SymbolAlgebra::assume_equal_powers() {
  if (!uses_powers_) return;
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (atoms_[i].is_logarithm || atoms_[j].is_logarithm || may_be(atoms_[i].value != atoms_[j].value)) continue;
      assume(atoms_[i].top == atoms_[j].top);
    }
  }
}

}  // namespace tap
