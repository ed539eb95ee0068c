#include "backend/mlir/cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/mlir/arithmetic.h"
#include "support/check.h"

namespace tap::backend::mlir {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;

Cells::Cells(Text& text, CellContext context)
    : text_(text), context_(std::move(context)), known_(context_.exprs->size()), total_(context_.exprs->size(), -1) {}

// Arguments before users. Iterative, since deep chains are common.
std::vector<CellId> Cells::post_order(const std::vector<CellId>& roots, Needs needs, bool with_known) const {
  std::vector<CellId> order, stack(roots.rbegin(), roots.rend());
  std::vector<bool> entered(known_.size()), done(known_.size());
  while (!stack.empty()) {
    const CellId id = stack.back();
    const std::size_t k = id.index();
    if (!entered[k] && (with_known || known_[k].empty())) {
      entered[k] = true;
      std::vector<CellId> before = (this->*needs)(id);
      stack.insert(stack.end(), before.rbegin(), before.rend());
      continue;
    }
    stack.pop_back();
    if (entered[k] && !done[k]) order.push_back(id);
    done[k] = true;
  }
  return order;
}

std::vector<CellId> Cells::all_needs(CellId id) const {
  const CellNode& node = (*context_.exprs)[id];
  std::vector<CellId> needs = node.args;
  if (node.op != CellOp::read || !context_.reads[node.attribute].argument.empty()) return needs;
  const ir::Access& access = (*context_.accesses)[node.attribute];
  for (const std::optional<CellId>& coordinate : access.coordinates)
    if (coordinate) needs.push_back(*coordinate);
  if (access.fill) needs.push_back(*access.fill);
  return needs;
}

// The cells that must be emitted before the node at its place; the others go into branches.
std::vector<CellId> Cells::strict_needs(CellId id) const {
  const CellNode& node = (*context_.exprs)[id];
  std::vector<CellId> needs = all_needs(id);
  if (ir::info(node.op).kind == ir::CellKind::lazy) {
    const bool branches = std::any_of(needs.begin() + 1, needs.end(), [&](CellId n) { return total_[n.index()] == 0; });
    if (branches) needs.resize(1);
  } else if (node.op == CellOp::read && context_.reads[node.attribute].argument.empty() &&
             (*context_.accesses)[node.attribute].fill) {
    needs.pop_back();
  }
  return needs;
}

bool Cells::may_fail(CellId id) const {
  const CellNode& node = (*context_.exprs)[id];
  auto constant_at_least = [&](std::int64_t least) {
    const CellNode& second = (*context_.exprs)[node.args[1]];
    return second.op == CellOp::constant && second.value.i >= least;
  };
  switch (node.op) {
    case CellOp::read:
      return context_.reads[node.attribute].argument.empty() && !(*context_.accesses)[node.attribute].fill;
    case CellOp::div:
    case CellOp::mod: return !is_float(node.type) && !constant_at_least(1);
    case CellOp::shl:
    case CellOp::shr: return !constant_at_least(0);
    default: return false;
  }
}

bool Cells::is_total(CellId root) {
  for (CellId id : post_order({root}, &Cells::all_needs, true)) {
    if (total_[id.index()] >= 0) continue;
    bool total = !may_fail(id);
    for (CellId need : all_needs(id)) total = total && total_[need.index()] == 1;
    total_[id.index()] = total ? 1 : 0;
  }
  return total_[root.index()] == 1;
}

void Cells::compute(const std::vector<CellId>& roots) {
  for (CellId root : roots) is_total(root);
  for (CellId id : post_order(roots, &Cells::strict_needs, false)) {
    std::string name = write(id);  // may reallocate known_, but not the name
    known_[id.index()] = std::move(name);
    trail_.push_back(id.index());
  }
}

std::vector<bool> Cells::needed_indices(const std::vector<CellId>& roots) const {
  std::vector<bool> needed(context_.indices.size());
  for (CellId id : post_order(roots, &Cells::all_needs, true)) {
    const CellNode& node = (*context_.exprs)[id];
    if (node.op == CellOp::index) needed[node.attribute] = true;
    if (node.op != CellOp::read || !context_.reads[node.attribute].argument.empty()) continue;
    for (const ir::AffineExpr& row : (*context_.accesses)[node.attribute].projection.start.rows)
      for (std::size_t d = 0; d < row.coefficients.size(); ++d)
        if (row.coefficients[d] != 0) needed[d] = true;
  }
  return needed;
}

std::string Cells::write(CellId id) {
  const CellNode& node = (*context_.exprs)[id];
  switch (node.op) {
    case CellOp::constant: return define(text_, "k", "arith.constant " + literal(node.value));
    case CellOp::index:
      return define(text_, "i", fmt::format("arith.index_cast {} : index to i64", context_.indices[node.attribute]));
    case CellOp::argument: return context_.arguments[node.attribute];
    case CellOp::read: return read(node);
    case CellOp::logical_and:
    case CellOp::logical_or:
    case CellOp::select: return lazy(node);
    case CellOp::cast:
      return cast(text_, (*context_.exprs)[node.args[0]].type, node.type, known_[node.args[0].index()]);
    case CellOp::reduce: TAP_UNREACHABLE("a fold's reduction occurs outside a body");
    default: break;
  }
  std::vector<std::string> args;
  for (CellId arg : node.args) args.push_back(known_[arg.index()]);
  return arithmetic(text_, node.op, (*context_.exprs)[node.args[0]].type, args);
}

template <class Then, class Else>
std::string Cells::branch(const std::string& condition, std::string_view type, Then then_value, Else else_value) {
  std::string name = text_.fresh("c");
  auto half = [&](auto& value) {
    text_.in();
    text_.line(fmt::format("scf.yield {} : {}", value(), type));
    text_.out();
  };
  text_.line(fmt::format("{} = scf.if {} -> ({}) {{", name, condition, type));
  half(then_value);
  text_.line("} else {");
  half(else_value);
  text_.line("}");
  return name;
}

// Values computed in a branch are unknown after it.
std::string Cells::in_branch(CellId id) {
  const std::size_t mark = trail_.size();
  compute({id});
  std::string name = known_[id.index()];
  for (; trail_.size() > mark; trail_.pop_back()) known_[trail_.back()].clear();
  return name;
}

std::string Cells::lazy(const CellNode& node) {
  const std::string condition = known_[node.args[0].index()];
  const std::string_view type = type_name(compute_type(node.type));
  const bool total =
      std::all_of(node.args.begin() + 1, node.args.end(), [&](CellId arg) { return total_[arg.index()] == 1; });
  auto value = [&](std::size_t k) { return [this, id = node.args[k]] { return in_branch(id); }; };
  auto constant = [&](std::string_view word) {
    return [this, word] { return define(text_, "k", fmt::format("arith.constant {}", word)); };
  };
  if (node.op == CellOp::select)
    return total ? choose(text_, condition, known_[node.args[1].index()], known_[node.args[2].index()], type)
                 : branch(condition, type, value(1), value(2));
  const bool both = node.op == CellOp::logical_and;
  if (total)
    return define(text_, "c",
                  fmt::format("arith.{} {}, {} : i1", both ? "andi" : "ori", condition, known_[node.args[1].index()]));
  return both ? branch(condition, type, value(1), constant("false"))
              : branch(condition, type, constant("true"), value(1));
}

std::string Cells::affine(const ir::AffineExpr& expr) {
  std::string sum;
  auto add = [&](std::string term) {
    sum = sum.empty() ? std::move(term) : define(text_, "i", fmt::format("arith.addi {}, {} : index", sum, term));
  };
  for (std::size_t d = 0; d < expr.coefficients.size(); ++d) {
    const std::int64_t c = expr.coefficients[d];
    if (c == 0) continue;
    if (c == 1) {
      add(context_.indices[d]);
    } else {
      const std::string factor = index_constant(text_, c);
      add(define(text_, "i", fmt::format("arith.muli {}, {} : index", context_.indices[d], factor)));
    }
  }
  if (expr.offset != 0 || sum.empty()) add(index_constant(text_, expr.offset));
  return sum;
}

std::string Cells::inside(const std::vector<ir::Constraint>& constraints) {
  std::string all;
  for (const ir::Constraint& c : constraints) {
    const std::string value = affine(c.expr), zero = index_constant(text_, 0);
    const std::string holds =
        compare(text_, c.comparison == ir::Comparison::equal_zero ? "eq" : "sge", value, zero, "index", false);
    all = all.empty() ? holds : define(text_, "c", fmt::format("arith.andi {}, {} : i1", all, holds));
  }
  return all;
}

std::string Cells::extract(const CellRead& from, ElementType type, const std::vector<std::string>& at) {
  const std::string taken =
      define(text_, "x", fmt::format("tensor.extract {}[{}] : {}", from.tensor, joined(at), tensor_type(from.type)));
  return widened(text_, type, taken);
}

std::string Cells::coordinate(CellId id) {
  const ElementType type = (*context_.exprs)[id].type;
  return define(text_, "i",
                fmt::format("arith.index_cast{} {} : {} to index", type == ElementType::u8 ? "ui" : "",
                            known_[id.index()], type_name(type)));
}

// A read that is proved to be in bounds is unchecked; one with data-dependent coordinates or a fill is checked.
std::string Cells::read(const CellNode& node) {
  const CellRead& from = context_.reads[node.attribute];
  if (!from.argument.empty()) return widened(text_, node.type, from.argument);
  const ir::Access& access = (*context_.accesses)[node.attribute];
  std::vector<std::string> at;
  std::string inside;
  for (std::size_t k = 0; k < from.type.shape.size(); ++k) {
    const bool depends = !access.coordinates.empty() && access.coordinates[k];
    at.push_back(depends ? coordinate(*access.coordinates[k]) : affine(access.projection.start.rows[k]));
    if (!depends && !access.fill) continue;
    // As an unsigned number, a negative one exceeds every size.
    const std::string below =
        compare(text_, "ult", at.back(), index_constant(text_, from.type.shape[k]), "index", false);
    inside = inside.empty() ? below : define(text_, "c", fmt::format("arith.andi {}, {} : i1", inside, below));
  }
  if (inside.empty()) return extract(from, node.type, at);
  if (!access.fill) {
    require(text_, inside, "`" + context_.operation + "` reads outside its tensor");
    return extract(from, node.type, at);
  }
  return branch(
      inside, type_name(compute_type(node.type)), [&] { return extract(from, node.type, at); },
      [&] { return in_branch(*access.fill); });
}

}  // namespace tap::backend::mlir
