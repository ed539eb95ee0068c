#include "passes/shardings/onnx_splits.h"

namespace tap::passes::onnx {
namespace {

using ir::onnx::Part;
using ir::onnx::Parts;

std::int64_t size_of(const Factors& factors, const std::vector<std::uint32_t>& bound) {
  std::int64_t product = 1;
  for (std::uint32_t f : bound)
    if (__builtin_mul_overflow(product, factors.factors[f].size, &product)) return -1;
  return product;
}

// Splits a part of the axis into `major` blocks and the inside of a block.
struct PartSplit {
  Part major, minor;
};
std::optional<PartSplit> split_part(const Part& part, std::int64_t major) {
  std::int64_t minor = part.size / major;
  if (part.shards == 1) return PartSplit{{major, 1}, {minor, 1}};
  if (major % part.shards == 0) return PartSplit{{major, part.shards}, {minor, 1}};
  if (part.shards % major == 0 && minor % (part.shards / major) == 0)
    return PartSplit{{major, major}, {minor, part.shards / major}};
  return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> bound_factors(const Factors& factors, const AxisFactors& axis, std::int64_t extent) {
  if (size_of(factors, axis.factors) == extent) return axis.factors;
  return {axis.factors.begin(), axis.factors.begin() + (axis.factors.empty() ? 0 : 1)};
}

std::optional<std::vector<Parts>> splits_of(const Parts& axis, const Factors& factors,
                                            const std::vector<std::uint32_t>& bound, std::int64_t extent) {
  std::vector<Parts> splits(bound.size());
  if (axis.empty() || bound.empty()) return splits;
  if (bound.size() == 1) {
    if (size_of(factors, bound) == extent) splits[0] = axis;
    else splits[0] = {{factors.factors[bound[0]].size, ir::onnx::shards_of(axis)}};
    return splits;
  }
  std::size_t at = 0;
  Part part = axis[0];
  for (std::size_t k = 0; k < bound.size(); ++k) {
    std::int64_t left = factors.factors[bound[k]].size;
    while (left > 1) {
      if (part.size <= left && left % part.size == 0) {
        splits[k].push_back(part);
        left /= part.size;
        if (++at == axis.size()) break;
        part = axis[at];
        continue;
      }
      if (part.size % left != 0) return std::nullopt;
      auto both = split_part(part, left);
      if (!both) return std::nullopt;
      splits[k].push_back(both->major);
      part = both->minor;
      left = 1;
    }
    splits[k] = ir::onnx::simplified(splits[k]);
  }
  return splits;
}

Parts axis_of_splits(const std::vector<Parts>& splits, const Factors& factors, const std::vector<std::uint32_t>& bound,
                     std::int64_t extent) {
  std::int64_t shards = 1;
  Parts parts;
  for (std::size_t k = 0; k < bound.size(); ++k) {
    shards *= ir::onnx::shards_of(splits[k]);
    if (splits[k].empty()) parts.push_back({factors.factors[bound[k]].size, 1});
    else parts.insert(parts.end(), splits[k].begin(), splits[k].end());
  }
  if (shards == 1 || extent == 1) return {};
  if (size_of(factors, bound) != extent) return {{extent, shards}};
  return ir::onnx::simplified(parts);
}

}  // namespace tap::passes::onnx
