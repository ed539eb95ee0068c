#include "ir/shardings/onnx_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/plural.h"

namespace tap::ir::onnx {
namespace {

constexpr RuleInfo rules[] = {
#define TAP_ONNX_RULE(name, id, text) {id, text, false},
#define TAP_ONNX_LIMIT(name, id, text) {id, text, true},
#include "ir/shardings/onnx_rules.def"
#undef TAP_ONNX_RULE
#undef TAP_ONNX_LIMIT
};

std::uint64_t count(std::size_t n) { return static_cast<std::uint64_t>(n); }

// Reads a spec; throws the first rule that it violates, within this file.
class Reader {
 public:
  Reader(const Spec& spec, const Shape& shape, std::int64_t devices) : spec_(spec), shape_(shape), devices_(devices) {}

  Placed read() {
    Placed out;
    out.axes.resize(shape_.size());
    // As written: device lists are indexed by the shards of all simple shardings, including trivial ones.
    std::int64_t shards = 1;
    for (const ShardedDim& dim : spec_.dims) {
      Parts parts = parts_of(dim);
      for (const Part& part : parts)
        if (__builtin_mul_overflow(shards, part.shards, &shards)) refuse_count("more than 2^63 shards");
      out.axes[axis_of(dim)] = simplified(parts);
    }
    if (spec_.device.empty()) throw Broken{Rule::device_list, "the device list is empty", {}, Field::device};
    if (shards == 1 && spec_.device.size() > 1) out.shards = {copies()};
    else if (shards != static_cast<std::int64_t>(spec_.device.size()))
      refuse_count(plural(static_cast<std::uint64_t>(shards), "shard"));
    else
      for (std::int64_t entry : spec_.device) out.shards.push_back(devices_of(entry));
    return out;
  }

 private:
  [[noreturn]] void refuse_count(const std::string& shards) const {
    throw Broken{Rule::shard_count,
                 fmt::format("the axes have {} in all, but the device list has {}", shards,
                             plural(count(spec_.device.size()), "entry", "entries")),
                 {},
                 Field::device};
  }

  std::size_t axis_of(const ShardedDim& dim) const {
    auto rank = static_cast<std::int64_t>(shape_.size());
    return static_cast<std::size_t>(dim.axis < 0 ? dim.axis + rank : dim.axis);
  }

  Broken about(const ShardedDim& dim, Rule rule, std::string message) const {
    return {rule, std::move(message), {}, Field::dim, static_cast<std::size_t>(&dim - spec_.dims.data())};
  }

  Parts parts_of(const ShardedDim& dim) {
    auto rank = static_cast<std::int64_t>(shape_.size());
    if (dim.axis < -rank || dim.axis >= rank)
      throw about(dim, Rule::axis,
                  fmt::format("axis {} does not exist: the tensor has {}", dim.axis,
                              plural(count(shape_.size()), "axis", "axes")));
    for (const ShardedDim& other : spec_.dims)
      if (&other != &dim && other.axis >= -rank && other.axis < rank && axis_of(other) == axis_of(dim))
        throw about(dim, Rule::axis, fmt::format("axis {} is sharded twice", axis_of(dim)));
    std::int64_t extent = shape_[axis_of(dim)], product = 1;
    Parts parts;
    for (const SimpleSharding& simple : dim.simple) {
      if (simple.shards < 1)
        throw about(dim, Rule::num_shards, fmt::format("axis {} has {} shards", dim.axis, simple.shards));
      std::int64_t size = simple.size ? *simple.size : left_for(dim, simple, extent);
      if (size < 0 || __builtin_mul_overflow(product, size, &product)) product = -1;
      if (product < 0) throw about(dim, Rule::dim_value, fmt::format("axis {} has the dim_value {}", dim.axis, size));
      parts.push_back({size, simple.shards});
    }
    if (!dim.simple.empty() && product != extent)
      throw about(
          dim, Rule::dim_value,
          fmt::format("axis {} has size {}, but the product of its dim_values is {}", dim.axis, extent, product));
    for (const Part& part : parts)
      if (part.size == 1 && part.shards > 1)
        throw about(dim, Rule::size_one, fmt::format("axis {} has {} shards of size 1", dim.axis, part.shards));
    return parts;
  }

  // The size that is not given as a number: if it is the only one, the rest of the axis.
  std::int64_t left_for(const ShardedDim& dim, const SimpleSharding& unknown, std::int64_t extent) const {
    std::int64_t left = extent;
    for (const SimpleSharding& other : dim.simple) {
      if (&other == &unknown) continue;
      if (!other.size || unknown.param.empty())
        throw about(dim, Rule::dim_value,
                    fmt::format("axis {} has {} simple shardings, and not all of them name the size that they split",
                                dim.axis, dim.simple.size()));
      if (*other.size < 1 || left % *other.size != 0)
        throw about(dim, Rule::dim_value,
                    fmt::format("axis {} has size {}, which its dim_value {} does not divide, so `{}` has no size",
                                dim.axis, extent, *other.size, unknown.param));
      left /= *other.size;
    }
    return left;
  }

  void check(std::int64_t device, Field field) const {
    if (device >= devices_)
      throw Broken{Rule::device_list,
                   fmt::format("device {} does not exist: the configuration has devices 0 to {}", device, devices_ - 1),
                   {},
                   field};
  }

  Devices devices_of(std::int64_t entry) const {
    if (entry >= 0) {
      check(entry, Field::device);
      return {entry};
    }
    auto group = spec_.groups.find(entry);
    if (group == spec_.groups.end())
      throw Broken{Rule::device_group,
                   fmt::format("the device group {} is not a key of `index_to_device_group_map`", entry),
                   {},
                   Field::device};
    Devices devices = group->second;
    if (devices.empty())
      throw Broken{Rule::device_group, fmt::format("the device group {} is empty", entry), {}, Field::groups};
    std::sort(devices.begin(), devices.end());
    if (devices.front() < 0)
      throw Broken{Rule::device_group,
                   fmt::format("the device group {} has the device {}", entry, devices.front()),
                   {},
                   Field::groups};
    check(devices.back(), Field::groups);
    return without_twins(std::move(devices), Rule::device_group);
  }

  // For an unsharded tensor: every device of the list, and of each group in it, has a copy.
  Devices copies() const {
    Devices all;
    for (std::int64_t entry : spec_.device)
      for (std::int64_t device : devices_of(entry)) all.push_back(device);
    std::sort(all.begin(), all.end());
    return without_twins(std::move(all), Rule::device_list);
  }

  static Devices without_twins(Devices devices, Rule rule) {
    auto twice = std::adjacent_find(devices.begin(), devices.end());
    Field field = rule == Rule::device_group ? Field::groups : Field::device;
    if (twice != devices.end()) throw Broken{rule, fmt::format("device {} occurs twice", *twice), {}, field};
    return devices;
  }

  const Spec& spec_;
  const Shape& shape_;
  std::int64_t devices_;
};

// One part for two neighbours, if it is equivalent.
std::optional<Part> joined(const Part& major, const Part& minor) {
  bool below = minor.shards == 1 && major.size % major.shards == 0;
  bool whole = major.shards == major.size && minor.size % minor.shards == 0;
  if (!below && !whole) return std::nullopt;
  return Part{major.size * minor.size, major.shards * minor.shards};
}

}  // namespace

const RuleInfo& info(Rule rule) { return rules[static_cast<std::size_t>(rule)]; }

std::string to_string(const Devices& devices) { return fmt::format("{{{}}}", fmt::join(devices, ", ")); }

std::string to_string(const Spec& spec) {
  std::string text = fmt::format("{{device = [{}]", fmt::join(spec.device, ", "));
  std::string groups, dims;
  for (auto group = spec.groups.rbegin(); group != spec.groups.rend(); ++group)
    groups += fmt::format("{}{}: [{}]", groups.empty() ? "" : ", ", group->first, fmt::join(group->second, ", "));
  if (!groups.empty()) text += fmt::format(", index_to_device_group_map = {{{}}}", groups);
  for (const ShardedDim& dim : spec.dims) {
    std::string simple;
    for (const SimpleSharding& part : dim.simple)
      simple += fmt::format("{}{}{}", simple.empty() ? "" : ", ",
                            part.size            ? fmt::format("{} in ", *part.size)
                            : part.param.empty() ? ""
                                                 : part.param + " in ",
                            part.shards);
    dims += fmt::format("{}axis {} in {}", dims.empty() ? "" : ", ", dim.axis, simple);
  }
  if (!dims.empty()) text += fmt::format(", sharded_dim = [{}]", dims);
  return text + "}";
}

std::string to_string(const Placed& placed) { return placed.is_unsharded() ? "unsharded" : to_string(spec_of(placed)); }

std::int64_t shards_of(const Parts& parts) {
  std::int64_t shards = 1;
  for (const Part& part : parts) shards *= part.shards;
  return shards;
}

Parts simplified(const Parts& parts) {
  Parts out;
  for (const Part& part : parts) {
    if (part.size == 1 && part.shards == 1) continue;
    out.push_back(part);
    while (out.size() > 1) {
      auto both = joined(out[out.size() - 2], out.back());
      if (!both) break;
      out.pop_back();
      out.back() = *both;
    }
  }
  if (shards_of(out) == 1) out.clear();
  return out;
}

std::variant<Placed, Broken> place(const Spec& spec, const Shape& shape, std::int64_t devices) {
  try {
    return Reader(spec, shape, devices).read();
  } catch (Broken& broken) { return std::move(broken); }
}

Spec spec_of(const Placed& placed) {
  Spec spec;
  for (std::size_t a = 0; a < placed.axes.size(); ++a) {
    const Parts& parts = placed.axes[a];
    if (parts.empty()) continue;
    ShardedDim dim{static_cast<std::int64_t>(a), {}};
    for (const Part& part : parts)
      dim.simple.push_back({parts.size() > 1 ? std::optional(part.size) : std::nullopt, part.shards});
    spec.dims.push_back(std::move(dim));
  }
  std::map<Devices, std::int64_t> keys;
  for (const Devices& devices : placed.shards) {
    if (devices.size() == 1) {
      spec.device.push_back(devices.front());
      continue;
    }
    auto [key, fresh] = keys.try_emplace(devices, -1 - static_cast<std::int64_t>(keys.size()));
    if (fresh) spec.groups.emplace(key->second, devices);
    spec.device.push_back(key->second);
  }
  return spec;
}

}  // namespace tap::ir::onnx
