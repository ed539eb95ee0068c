// Laws that hold bitwise, since both sides perform the same operations: a value is identified by the operations that
// compute it.
//
//   commutative:  (a.n * a.m + b.n * b.m) / (a.n + b.n)      equals that of b and a, even if products overflow
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "compiler/frontend/proofs/laws_proof.h"

namespace tap {
namespace {

// Operations whose operands can be exchanged: the result changes only in the payload of a NaN and the sign of a zero.
bool may_change_places(ir::CellOp op) {
  switch (op) {
    case ir::CellOp::add:
    case ir::CellOp::mul:
    case ir::CellOp::min:
    case ir::CellOp::max:
    case ir::CellOp::equal:
    case ir::CellOp::not_equal:
    case ir::CellOp::bitand_:
    case ir::CellOp::bitor_:
    case ir::CellOp::bitxor_: return true;
    default: return false;
  }
}

struct StepAlgebra {
  struct Value {
    ElementType type;
    std::size_t step;
  };
  struct MayStop {};

  Value variable(ElementType type) { return {type, next_++}; }
  Value constant(const ir::Scalar& s) {
    auto known = std::find(constants_.begin(), constants_.end(), s);
    auto number = static_cast<std::size_t>(known - constants_.begin());
    if (known == constants_.end()) constants_.push_back(s);
    return made(s.type, ir::CellOp::constant, {number});
  }
  Value apply(const ir::CellNode& node, const std::vector<Value>& args) {
    bool may_stop = is_integer(node.type) && (node.op == ir::CellOp::div || node.op == ir::CellOp::mod ||
                                              node.op == ir::CellOp::shl || node.op == ir::CellOp::shr);
    if (may_stop) throw MayStop{};
    std::vector<std::size_t> steps;
    for (const Value& arg : args) steps.push_back(arg.step);
    if (may_change_places(node.op)) std::sort(steps.begin(), steps.end());
    return made(node.type, node.op, std::move(steps));
  }
  Value choose(const Value& condition, const Value& a, const Value& b) {
    return a.step == b.step ? a : made(a.type, ir::CellOp::select, {condition.step, a.step, b.step});
  }
  Answer agree(const Value& a, const Value& b, int) const {
    return a.step == b.step ? Answer::holds : Answer::not_known;
  }

 private:
  Value made(ElementType type, ir::CellOp op, std::vector<std::size_t> of) {
    auto [it, is_new] = steps_.emplace(std::tuple(type, op, std::move(of)), next_);
    next_ += is_new;
    return {type, it->second};
  }

  std::size_t next_ = 0;
  std::vector<ir::Scalar> constants_;
  std::map<std::tuple<ElementType, ir::CellOp, std::vector<std::size_t>>, std::size_t> steps_;
};

}  // namespace

bool computes_the_same(const ir::Program& program, const ir::Monoid& monoid, const Question& q) {
  try {
    StepAlgebra steps;
    std::vector<int> infinities = infinities_of(program, monoid);
    auto states = variables_of<StepAlgebra::Value>(
        monoid, q, infinities, [&](ElementType type, const std::string&, int) { return steps.variable(type); });
    LawQuestions<StepAlgebra> laws(program, monoid, steps, infinities);
    return evaluate_question(laws, q, states).answer == Answer::holds;
  } catch (const StepAlgebra::MayStop&) { return false; }
}

}  // namespace tap
