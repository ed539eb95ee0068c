// Sets of devices, in ascending order: intersection, union, and all devices that hold a shard of a tensor.
#pragma once

#include <algorithm>
#include <iterator>

#include "ir/shardings/onnx_spec.h"

namespace tap::passes::onnx {

inline ir::onnx::Devices both(const ir::onnx::Devices& a, const ir::onnx::Devices& b) {
  ir::onnx::Devices out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
inline ir::onnx::Devices either(const ir::onnx::Devices& a, const ir::onnx::Devices& b) {
  ir::onnx::Devices out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
inline ir::onnx::Devices all_devices(const ir::onnx::Placed& placed) {
  ir::onnx::Devices all;
  for (const ir::onnx::Devices& devices : placed.shards) all.insert(all.end(), devices.begin(), devices.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace tap::passes::onnx
