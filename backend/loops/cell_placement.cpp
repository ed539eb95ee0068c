#include "backend/loops/cell_placement.h"

#include "backend/loops/may_fail.h"

namespace tap::backend {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;

CellPlacement::CellPlacement(const Kernel& kernel, const std::vector<CellId>& roots)
    : kernel_(kernel),
      scopes_(1),
      uses_(kernel.exprs.size()),
      homes_(kernel.exprs.size()),
      harmless_(kernel.exprs.size(), -1) {
  std::vector<bool> seen(kernel.exprs.size());
  std::vector<CellId> order;
  for (CellId root : roots) {
    sort(root, seen, order);
    use(root, 0);
  }
  for (auto id = order.rbegin(); id != order.rend(); ++id) place(*id);  // users first
}

void CellPlacement::sort(CellId id, std::vector<bool>& seen, std::vector<CellId>& arguments_first) const {
  if (seen[id.index()]) return;
  seen[id.index()] = true;
  const CellNode& node = kernel_.exprs[id];
  for (CellId arg : node.args) sort(arg, seen, arguments_first);
  if (node.op == CellOp::read) {
    const Load& load = kernel_.loads[node.attribute];
    for (const Coordinate& c : load.at)
      if (c.data) sort(*c.data, seen, arguments_first);
    if (load.fill) sort(*load.fill, seen, arguments_first);
  }
  arguments_first.push_back(id);
}

void CellPlacement::place(CellId id) {
  const CellNode& node = kernel_.exprs[id];
  if (is_small(node)) return;
  Scopes used = std::move(uses_[id.index()]);
  std::uint32_t scope = innermost(used);
  Home& home = homes_[id.index()];
  home.depth = scopes_[scope].depth;
  home.tried = !harmless(id) && !always_used(std::move(used), scope);
  use_arguments(node, home.tried ? add_scope(scope) : scope);
}

void CellPlacement::use_arguments(const CellNode& node, std::uint32_t scope) {
  if (node.op == CellOp::read) {
    const Load& load = kernel_.loads[node.attribute];
    for (const Coordinate& c : load.at)
      if (c.data) use(*c.data, scope);
    if (load.fill) use(*load.fill, add_scope(scope));
  } else if (node.op == CellOp::select && !(harmless(node.args[1]) && harmless(node.args[2]))) {
    use(node.args[0], scope);
    std::uint32_t then_side = add_branch(scope);
    use(node.args[1], then_side);
    use(node.args[2], scopes_[then_side].other);
  } else {
    bool lazy = (node.op == CellOp::logical_and || node.op == CellOp::logical_or) && !harmless(node.args[1]);
    for (std::size_t a = 0; a < node.args.size(); ++a) use(node.args[a], lazy && a == 1 ? add_scope(scope) : scope);
  }
}

// Numbers, variables, accumulators and reads at affine coordinates: not worth sharing between branches.
bool CellPlacement::is_small(const CellNode& node) const {
  auto is_leaf = [](CellOp op) { return op == CellOp::constant || op == CellOp::index || op == CellOp::argument; };
  if (node.op != CellOp::read) return is_leaf(node.op);
  const Load& load = kernel_.loads[node.attribute];
  for (const Coordinate& c : load.at)
    if (c.data) return false;
  return !load.fill || is_leaf(kernel_.exprs[*load.fill].op);
}

std::uint32_t CellPlacement::innermost(const Scopes& scopes) const {
  std::uint32_t common = *scopes.begin();
  for (std::uint32_t scope : scopes)
    while (scope != common) (scope > common ? scope : common) = scopes_[std::max(scope, common)].parent;
  return common;
}

// Whether every execution of `within` needs the cell: a use there, or on both sides of a branch.
bool CellPlacement::always_used(Scopes scopes, std::uint32_t within) const {
  while (!scopes.empty()) {
    std::uint32_t last = *scopes.rbegin();
    if (last == within) return true;
    scopes.erase(last);
    if (scopes.contains(scopes_[last].other)) scopes.insert(scopes_[last].parent);
  }
  return false;
}

std::uint32_t CellPlacement::add_scope(std::uint32_t parent) {
  auto scope = static_cast<std::uint32_t>(scopes_.size());
  scopes_.push_back({parent, scope, scopes_[parent].depth + 1});
  return scope;
}

// Adds its two sides; returns the first.
std::uint32_t CellPlacement::add_branch(std::uint32_t parent) {
  std::uint32_t first = add_scope(parent), second = add_scope(parent);
  scopes_[first].other = second;
  scopes_[second].other = first;
  return first;
}

bool CellPlacement::harmless(CellId id) {
  if (harmless_[id.index()] >= 0) return harmless_[id.index()] == 1;
  const CellNode& node = kernel_.exprs[id];
  bool result = may_speculate(node);
  for (CellId arg : node.args) result = result && harmless(arg);
  harmless_[id.index()] = result;
  return result;
}

bool CellPlacement::may_speculate(const CellNode& node) {
  const auto& exprs = kernel_.exprs;
  if (node.op == CellOp::read) {
    const Load& load = kernel_.loads[node.attribute];
    bool result = load.anywhere && (!load.fill || harmless(*load.fill));
    for (const Coordinate& c : load.at) result = result && (!c.data || harmless(*c.data));
    return result;
  }
  if (node.args.size() != 2) return true;
  const CellNode& second = exprs[node.args[1]];
  return !operation_may_fail(node.op, exprs[node.args[0]].type,
                             second.op == CellOp::constant ? &second.value : nullptr);
}

}  // namespace tap::backend
