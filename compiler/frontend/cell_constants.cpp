#include "compiler/frontend/cell_constants.h"

#include "ir/interpret_number.h"

namespace tap {
namespace {

std::optional<std::int64_t> value_at(const ir::CellExprs& exprs, ir::CellId id, int depth) {
  const ir::CellNode& node = exprs[id];
  if (!is_integer(node.type) || depth > 32) return std::nullopt;
  if (node.op == ir::CellOp::constant) return node.value.i;
  ir::CellKind kind = info(node.op).kind;
  bool casts = kind == ir::CellKind::cast;
  if (!casts && kind != ir::CellKind::arithmetic && kind != ir::CellKind::integer_function) return std::nullopt;
  ir::oracle::Number args[2] = {};
  for (std::size_t k = 0; k < node.args.size(); ++k) {
    auto value = value_at(exprs, node.args[k], depth + 1);
    if (!value || k >= 2) return std::nullopt;
    args[k] = ir::oracle::integer(*value);
  }
  try {
    if (casts) return ir::oracle::apply_cast(exprs[node.args[0]].type, node.type, args[0]).i;
    return ir::oracle::apply_integer(node.op, node.type, args[0], args[1]).i;
  } catch (const ir::oracle::CellFailure&) { return std::nullopt; }
}

}  // namespace

std::optional<std::int64_t> constant_value(const ir::CellExprs& exprs, ir::CellId id) { return value_at(exprs, id, 0); }

}  // namespace tap
