#include "compiler/frontend/cells/cell_constants.h"

#include <unordered_map>

#include "ir/interpret/interpret_number.h"

namespace tap {
namespace {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;
using ir::Scalar;

class Folder {
 public:
  explicit Folder(const ir::CellExprs& exprs) : exprs_(exprs) {}

  std::optional<Scalar> value(CellId id) {
    if (auto known = known_.find(id.index()); known != known_.end()) return known->second;
    if (depth_ == max_depth) return std::nullopt;
    ++depth_;
    auto result = find(exprs_[id]);
    --depth_;
    known_.emplace(id.index(), result);
    return result;
  }

 private:
  static constexpr int max_depth = 1000;  // a chain of `let`s may be longer than the stack

  std::optional<Scalar> find(const CellNode& node) {
    switch (info(node.op).kind) {
      case ir::CellKind::leaf: return node.op == CellOp::constant ? std::optional(node.value) : std::nullopt;
      case ir::CellKind::reduction: return std::nullopt;
      case ir::CellKind::lazy: return lazy(node);
      default: return strict(node);
    }
  }

  // A branch that is not taken need not be constant.
  std::optional<Scalar> lazy(const CellNode& node) {
    auto condition = value(node.args[0]);
    if (!condition) return std::nullopt;
    bool holds = condition->i != 0;
    if (node.op == CellOp::select) return value(node.args[holds ? 1 : 2]);
    if (holds == (node.op == CellOp::logical_or)) return condition;
    return value(node.args[1]);
  }

  std::optional<Scalar> strict(const CellNode& node) {
    ElementType type = exprs_[node.args[0]].type;
    ir::oracle::Number args[2] = {};
    for (std::size_t k = 0; k < node.args.size(); ++k) {
      auto arg = value(node.args[k]);
      if (!arg) return std::nullopt;
      args[k] = ir::oracle::number_of(*arg);
    }
    try {
      ir::oracle::Number n = node.op == CellOp::cast ? ir::oracle::apply_cast(type, node.type, args[0])
                             : is_float(type)        ? ir::oracle::apply_float(node.op, args[0], args[1])
                                                     : ir::oracle::apply_integer(node.op, type, args[0], args[1]);
      return is_float(node.type) ? Scalar::floating(node.type, n.f) : Scalar::integer(node.type, n.i);
    } catch (const ir::oracle::CellFailure&) { return std::nullopt; }
  }

  const ir::CellExprs& exprs_;
  int depth_ = 0;
  std::unordered_map<std::size_t, std::optional<Scalar>> known_;
};

}  // namespace

std::optional<Scalar> constant_value(const ir::CellExprs& exprs, CellId cell) { return Folder(exprs).value(cell); }

}  // namespace tap
