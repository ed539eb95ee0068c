#include "ir/shardings/axis_algebra.h"

#include <algorithm>

#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::ir {
namespace {

std::int64_t end_of(SubAxis d) { return d.pre_size * d.size; }
bool overlap(SubAxis a, SubAxis b) { return a.pre_size < end_of(b) && b.pre_size < end_of(a); }

// Digits of one mixed radix have boundaries that divide each other.
bool are_compatible(SubAxis a, SubAxis b) {
  std::int64_t bounds[] = {a.pre_size, end_of(a), b.pre_size, end_of(b)};
  std::sort(std::begin(bounds), std::end(bounds));
  return bounds[1] % bounds[0] == 0 && bounds[2] % bounds[1] == 0 && bounds[3] % bounds[2] == 0;
}

// The digit between two boundaries; nothing if they are equal.
std::optional<SubAxis> between(std::int64_t pre_size, std::int64_t end) {
  if (end <= pre_size) return std::nullopt;
  return SubAxis{pre_size, end / pre_size};
}

}  // namespace

SubAxis digit(const Mesh& mesh, const AxisRef& axis) { return axis.sub ? *axis.sub : SubAxis{1, size_of(mesh, axis)}; }

AxisRef axis_of(const Mesh& mesh, AxisId id, SubAxis digit) {
  if (digit.size == mesh[id].size) return {id, {}};
  return {id, digit};
}

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.id != b.id) return false;
  // A full axis of size 1 has no digit, but is still an axis that can be used once.
  return a == b || overlap(digit(mesh, a), digit(mesh, b));
}

bool are_compatible(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  return a.id != b.id || are_compatible(digit(mesh, a), digit(mesh, b));
}

bool contains(const Mesh& mesh, const AxisRef& whole, const AxisRef& part) {
  if (whole.id != part.id) return false;
  SubAxis w = digit(mesh, whole), p = digit(mesh, part);
  return p.pre_size % w.pre_size == 0 && end_of(w) % end_of(p) == 0;
}

bool is_prefix(const Mesh& mesh, const AxisRef& prefix, const AxisRef& axis) {
  return contains(mesh, axis, prefix) && digit(mesh, prefix).pre_size == digit(mesh, axis).pre_size;
}

std::optional<AxisRef> common_prefix(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (is_prefix(mesh, a, b)) return a;
  if (is_prefix(mesh, b, a)) return b;
  return std::nullopt;
}

std::optional<AxisRef> shared(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a == b) return a;
  if (!overlap(mesh, a, b)) return std::nullopt;
  TAP_CHECK(are_compatible(mesh, a, b), to_string(mesh, a) + " and " + to_string(mesh, b) + " are incompatible");
  SubAxis p = digit(mesh, a), q = digit(mesh, b);
  return axis_of(mesh, a.id, *between(std::max(p.pre_size, q.pre_size), std::min(end_of(p), end_of(q))));
}

std::optional<AxisRef> prefix_without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other) {
  if (!are_compatible(mesh, axis, other)) return std::nullopt;
  if (!overlap(mesh, axis, other)) return axis;
  SubAxis d = digit(mesh, axis);
  auto prefix = between(d.pre_size, digit(mesh, other).pre_size);
  return prefix ? std::optional(axis_of(mesh, axis.id, *prefix)) : std::nullopt;
}

Axes without(const Mesh& mesh, const AxisRef& axis, const AxisRef& other) {
  if (!overlap(mesh, axis, other)) return {axis};
  if (axis == other) return {};
  TAP_CHECK(are_compatible(mesh, axis, other),
            to_string(mesh, axis) + " and " + to_string(mesh, other) + " are incompatible");
  SubAxis d = digit(mesh, axis), o = digit(mesh, other);
  Axes left;
  if (auto above = between(d.pre_size, o.pre_size)) left.push_back(axis_of(mesh, axis.id, *above));
  if (auto below = between(end_of(o), end_of(d))) left.push_back(axis_of(mesh, axis.id, *below));
  return left;
}

std::optional<AxisRef> merged(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.id != b.id || !a.sub || !b.sub || end_of(*a.sub) != b.sub->pre_size) return std::nullopt;
  return axis_of(mesh, a.id, {a.sub->pre_size, a.sub->size * b.sub->size});
}

bool comes_before(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.id != b.id) return a.id < b.id;
  SubAxis p = digit(mesh, a), q = digit(mesh, b);
  return p.pre_size != q.pre_size ? p.pre_size < q.pre_size : p.size < q.size;
}

}  // namespace tap::ir
