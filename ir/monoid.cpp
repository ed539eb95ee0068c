#include "ir/monoid.h"

#include <algorithm>

#include "support/check.h"

namespace tap::ir {
namespace {

struct Builtin {
  std::string_view name;
  CellOp op;
  bool of_bool;  // false: for every number type
  Scalar (*identity)(ElementType);
};
constexpr Builtin builtins[] = {
    {"sum", CellOp::add, false, Scalar::zero},       {"prod", CellOp::mul, false, Scalar::one},
    {"max", CellOp::max, false, Scalar::least},      {"min", CellOp::min, false, Scalar::greatest},
    {"any", CellOp::logical_or, true, Scalar::zero}, {"all", CellOp::logical_and, true, Scalar::one},
};

// Copies what `roots` need into `to`, with arguments renumbered; `renumber` must know every argument that occurs.
std::vector<CellId> copy_cells(const CellExprs& from, const std::vector<CellId>& roots,
                               const std::vector<std::uint32_t>& renumber, CellExprs& to) {
  std::unordered_map<CellId, CellId> copied;
  for (CellId id : reachable_from(from, roots)) {
    CellNode node = from[id];
    if (node.op == CellOp::argument) node.attribute = renumber.at(node.attribute);
    for (CellId& arg : node.args) arg = copied.at(arg);
    copied.emplace(id, to.add(std::move(node)));
  }
  std::vector<CellId> result;
  for (CellId root : roots) result.push_back(copied.at(root));
  return result;
}

template <class T>
std::vector<T> kept(const std::vector<T>& all, const std::vector<bool>& keep) {
  std::vector<T> result;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (keep[c]) result.push_back(all[c]);
  return result;
}

// A fold stays if its kept roots use kept operands only.
std::optional<Fold> restrict_fold(const Fold& fold, const std::vector<bool>& keep,
                                  const std::vector<std::uint32_t>& renumber) {
  std::vector<CellId> roots = kept(fold.roots, keep);
  for (CellId id : reachable_from(fold.exprs, roots)) {
    const CellNode& node = fold.exprs[id];
    if (node.op == CellOp::argument && !keep[node.attribute]) return std::nullopt;
  }
  Fold result;
  result.roots = copy_cells(fold.exprs, roots, renumber, result.exprs);
  return result;
}

// A law of the whole monoid holds for a part; a refuted one may hold for a part.
Law restrict_law(Law law) { return law == Law::broken ? Law::unknown : law; }

}  // namespace

std::optional<Monoid> builtin_monoid(std::string_view name, ElementType type) {
  for (const Builtin& b : builtins) {
    if (b.name != name || b.of_bool != is_bool(type)) continue;
    Monoid m;
    m.name = name;
    m.components = {{"v", type}};
    CellId earlier = m.exprs.argument(0, type), later = m.exprs.argument(1, type);
    m.identity = {m.exprs.constant(b.identity(type))};
    m.combine = {m.exprs.apply(b.op, type, {earlier, later})};
    // Also for float sums and products: the language allows splits to reassociate them.
    m.laws = {Law::proved, Law::proved, Law::proved, Law::unknown};
    return m;
  }
  return std::nullopt;
}

bool equal_structure(const Monoid& a, const Monoid& b) {
  auto same_type = [](const MonoidComponent& x, const MonoidComponent& y) { return x.type == y.type; };
  return std::equal(a.components.begin(), a.components.end(), b.components.begin(), b.components.end(), same_type) &&
         a.exprs == b.exprs && a.identity == b.identity && a.combine == b.combine && a.fold == b.fold;
}

std::vector<std::vector<bool>> component_dependence(const Monoid& monoid) {
  std::size_t n = monoid.arity();
  std::vector<std::vector<bool>> depends(n, std::vector<bool>(n, false));
  for (std::size_t c = 0; c < n; ++c) {
    depends[c][c] = true;
    for (CellId id : reachable_from(monoid.exprs, {monoid.combine[c]})) {
      const CellNode& node = monoid.exprs[id];
      if (node.op == CellOp::argument) depends[c][node.attribute % n] = true;
    }
  }
  for (std::size_t via = 0; via < n; ++via)  // Warshall's closure
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t on = 0; on < n; ++on)
        if (depends[c][via] && depends[via][on]) depends[c][on] = true;
  return depends;
}

Monoid restrict_to(const Monoid& monoid, const std::vector<bool>& keep) {
  std::size_t n = monoid.arity();
  TAP_CHECK(keep.size() == n, "a monoid restricted by a set of the wrong size");
  auto dependence = component_dependence(monoid);
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t on = 0; on < n; ++on)
      TAP_CHECK(!keep[c] || !dependence[c][on] || keep[on], "a monoid restricted to components that need others");
  std::vector<std::uint32_t> renumber(2 * n, 0);
  std::uint32_t count = 0;
  for (std::size_t c = 0; c < n; ++c)
    if (keep[c]) renumber[c] = count++;
  if (count == n) return monoid;
  for (std::size_t c = 0; c < n; ++c) renumber[n + c] = count + renumber[c];

  Monoid result;
  result.name = monoid.name;
  result.components = kept(monoid.components, keep);
  result.identity = copy_cells(monoid.exprs, kept(monoid.identity, keep), renumber, result.exprs);
  result.combine = copy_cells(monoid.exprs, kept(monoid.combine, keep), renumber, result.exprs);
  if (monoid.fold) result.fold = restrict_fold(*monoid.fold, keep, renumber);
  result.laws = {restrict_law(monoid.laws.associative), restrict_law(monoid.laws.identity),
                 restrict_law(monoid.laws.commutative), result.fold ? restrict_law(monoid.laws.fold) : Law::unknown};
  return result;
}

}  // namespace tap::ir
