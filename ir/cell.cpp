#include "ir/cell.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "ir/hash.h"
#include "support/check.h"

namespace tap::ir {
namespace {

constexpr CellOpInfo infos[] = {
#define TAP_CELL_OP(name, spelling, arity, kind, arguments, result) \
  {#name, spelling, arity, CellKind::kind, CellArguments::arguments, CellResult::result},
#include "ir/cell_ops.def"
};

constexpr double infinity = std::numeric_limits<double>::infinity();

bool uses_attribute(CellOp op) {
  return op == CellOp::index || op == CellOp::read || op == CellOp::argument || op == CellOp::reduce;
}

std::size_t hash_of(const Scalar& s) {
  std::size_t bits = !is_float(s.type) ? static_cast<std::size_t>(s.i)
                     : std::isnan(s.f) ? 1
                                       : std::bit_cast<std::size_t>(s.f);
  return hash_combine(static_cast<std::size_t>(s.type), bits);
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

}  // namespace

Scalar Scalar::floating(ElementType type, double value) { return {type, 0, round_to(value, type)}; }

Scalar Scalar::zero(ElementType type) { return is_float(type) ? floating(type, 0) : integer(type, 0); }

Scalar Scalar::one(ElementType type) { return is_float(type) ? floating(type, 1) : integer(type, 1); }

Scalar Scalar::least(ElementType type) {
  return is_float(type) ? floating(type, -infinity) : integer(type, least_integer(type));
}

Scalar Scalar::greatest(ElementType type) {
  return is_float(type) ? floating(type, infinity) : integer(type, greatest_integer(type));
}

bool Scalar::operator==(const Scalar& other) const {
  if (type != other.type) return false;
  if (!is_float(type)) return i == other.i;
  if (std::isnan(f) || std::isnan(other.f)) return std::isnan(f) && std::isnan(other.f);
  return std::bit_cast<std::uint64_t>(f) == std::bit_cast<std::uint64_t>(other.f);
}

std::string to_string(const Scalar& s) {
  if (is_bool(s.type)) return s.i ? "true" : "false";
  if (is_integer(s.type)) return shortest(s.i);
  if (std::isnan(s.f)) return "nan";
  // The narrow types print as f32: 0.1 of an f32 is then 0.1 and not 0.10000000149011612.
  auto narrow = static_cast<float>(s.f);
  return s.type != ElementType::f64 && narrow == s.f ? shortest(narrow) : shortest(s.f);
}

const CellOpInfo& info(CellOp op) {
  TAP_CHECK(static_cast<std::size_t>(op) < cell_op_count, "an unknown cell operation");
  return infos[static_cast<std::size_t>(op)];
}

bool accepts(CellArguments arguments, ElementType type) {
  switch (arguments) {
    case CellArguments::none: return false;
    case CellArguments::numbers: return !is_bool(type);
    case CellArguments::floats: return is_float(type);
    case CellArguments::integers: return is_integer(type);
    case CellArguments::bools:
    case CellArguments::choice: return is_bool(type);
    case CellArguments::any: return true;
  }
  return false;
}

std::string_view argument_description(CellArguments arguments) {
  switch (arguments) {
    case CellArguments::none: return "nothing";
    case CellArguments::numbers: return "a number";
    case CellArguments::floats: return "a float";
    case CellArguments::integers: return "an integer";
    case CellArguments::bools:
    case CellArguments::choice: return "a bool";
    case CellArguments::any: return "any type";
  }
  return "";
}

bool is_strict(CellOp op) {
  CellKind kind = info(op).kind;
  return kind != CellKind::leaf && kind != CellKind::lazy && kind != CellKind::cast && kind != CellKind::reduction;
}

std::size_t hash_of(const CellNode& node) {
  std::size_t h = hash_combine(static_cast<std::size_t>(node.op), static_cast<std::size_t>(node.type));
  h = hash_combine(h, node.attribute);
  if (node.op == CellOp::constant) h = hash_combine(h, hash_of(node.value));
  for (CellId arg : node.args) h = hash_combine(h, arg.index());
  return h;
}

CellId CellExprs::add(CellNode node) {
  for (CellId arg : node.args) TAP_CHECK(arg.index() < nodes_.size(), "a cell whose argument is not defined yet");
  // Fields that the operation does not use must not make equal nodes different.
  if (!uses_attribute(node.op)) node.attribute = 0;
  if (node.op == CellOp::constant) node.type = node.value.type;
  else node.value = {};
  std::size_t h = hash_of(node);
  auto [begin, end] = by_hash_.equal_range(h);
  for (auto it = begin; it != end; ++it)
    if (nodes_[it->second.index()] == node) return it->second;
  CellId id{nodes_.size()};
  nodes_.push_back(std::move(node));
  by_hash_.emplace(h, id);
  return id;
}

CellId CellExprs::constant(Scalar value) { return add({CellOp::constant, value.type, 0, value, {}}); }

CellId CellExprs::cast(CellId value, ElementType type) {
  return (*this)[value].type == type ? value : apply(CellOp::cast, type, {value});
}

std::vector<CellId> reachable_from(const CellExprs& exprs, const std::vector<CellId>& roots) {
  std::unordered_set<CellId> seen(roots.begin(), roots.end());
  std::vector<CellId> open(seen.begin(), seen.end());
  std::vector<CellId> found = open;
  while (!open.empty()) {
    CellId id = open.back();
    open.pop_back();
    for (CellId arg : exprs[id].args)
      if (seen.insert(arg).second) {
        open.push_back(arg);
        found.push_back(arg);
      }
  }
  std::sort(found.begin(), found.end());  // arguments stand before their users in the arena
  return found;
}

}  // namespace tap::ir
