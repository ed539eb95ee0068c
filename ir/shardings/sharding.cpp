#include "ir/shardings/sharding.h"

#include <fmt/format.h>

#include "ir/text_names.h"

namespace tap::ir {
namespace {

// Axes in braces, major to minor: {data, model:(1)2, ?}
std::string braces(const std::vector<AxisRef>& axes, bool open) {
  std::vector<std::string> parts;
  for (const AxisRef& axis : axes) parts.push_back(to_string(axis));
  if (open) parts.push_back("?");
  return "{" + joined(parts) + "}";
}

}  // namespace

std::string to_string(const AxisRef& axis) {
  std::string text = written_name(axis.name);
  if (axis.sub) text += fmt::format(":({}){}", axis.sub->pre_size, axis.sub->size);
  return text;
}

std::string to_string(const Sharding& sharding) {
  std::string text = written_name(sharding.mesh) + "[";
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    const DimSharding& dim = sharding.dims[d];
    if (d) text += ", ";
    text += braces(dim.axes, dim.open);
    if (dim.priority) text += fmt::format("p{}", *dim.priority);
  }
  if (!sharding.replicated.empty()) text += "; replicated " + braces(sharding.replicated, false);
  if (!sharding.unreduced.empty() || !sharding.unreduced_monoid.empty())
    text += "; unreduced " + braces(sharding.unreduced, false) + " by " + written_name(sharding.unreduced_monoid);
  return text + "]";
}

}  // namespace tap::ir
