// Monoids: identity and combination of a reduction, with the status of their laws. The built-in ones (sum, max, …)
// are values of the same type as a user's: no pass checks a monoid's name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/cell.h"

namespace tap::ir {

struct MonoidComponent {
  std::string name;
  ElementType type = ElementType::f32;
  bool operator==(const MonoidComponent&) const = default;
};

// Folds a whole block, in terms of other reductions. In `exprs`, argument(k) is the k-th operand at the fold's index. A
// node that depends on an argument outside a `reduce` depends on that index; the roots must not.
struct Fold {
  CellExprs exprs;
  std::vector<CellId> roots;  // one per component
  bool operator==(const Fold&) const = default;
};

enum class Law : std::uint8_t { unknown, proved, assumed, broken };
struct MonoidLaws {
  Law associative = Law::unknown;
  Law identity = Law::unknown;
  Law commutative = Law::unknown;  // broken is legal: it may then only be split in order
  Law fold = Law::unknown;         // if there is a fold
  bool operator==(const MonoidLaws&) const = default;
};

struct Monoid {
  std::string name;
  std::vector<MonoidComponent> components;
  CellExprs exprs;               // argument(k), k < n: component k of the earlier value; n <= k < 2n: of the later one
  std::vector<CellId> identity;  // constants
  std::vector<CellId> combine;
  std::optional<Fold> fold;
  MonoidLaws laws;

  std::size_t arity() const { return components.size(); }
  bool operator==(const Monoid&) const = default;
};

// Equality except for names: of the monoid, its components, and the status of its laws.
bool equal_structure(const Monoid& a, const Monoid& b);

// sum, prod, max, min of a number type; any, all of bool. Empty if the type does not fit.
std::optional<Monoid> builtin_monoid(std::string_view name, ElementType type);

// For each component, the set of components (as a bool per component) that its combination depends on, transitively; each
// component counts as depending on itself.
std::vector<std::vector<bool>> component_dependence(const Monoid& monoid);
// The monoid of just these components (a set closed under dependence), in order.
Monoid restrict_to(const Monoid& monoid, const std::vector<bool>& keep);

}  // namespace tap::ir
