#include "ir/sharding.h"

#include <fmt/format.h>

namespace tap::ir {
namespace {

// Axes in braces, major to minor: {data, model:(1)2, ?}
std::string braces(const std::vector<AxisRef>& axes, bool open) {
  std::string text;
  for (const AxisRef& axis : axes) {
    if (!text.empty()) text += ", ";
    text += axis.name;
    if (axis.sub) text += fmt::format(":({}){}", axis.sub->pre_size, axis.sub->size);
  }
  if (open) text += text.empty() ? "?" : ", ?";
  return "{" + text + "}";
}

}  // namespace

std::string to_string(const Sharding& sharding) {
  std::string text = sharding.mesh + "[";
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    const DimSharding& dim = sharding.dims[d];
    if (d) text += ", ";
    text += braces(dim.axes, dim.open);
    if (dim.priority) text += fmt::format("p{}", *dim.priority);
  }
  if (!sharding.replicated.empty()) text += "; replicated " + braces(sharding.replicated, false);
  if (!sharding.unreduced.empty())
    text += "; unreduced " + braces(sharding.unreduced, false) + " by " + sharding.unreduced_monoid;
  return text + "]";
}

}  // namespace tap::ir
