// Inputs of small integers, for programs in bulk, and whether results agree with the interpreter's: bit by bit where the data
// allow it, else within twice the oracle's bound on the rounding error, since each of two evaluations may be off by it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/interpret/interpret.h"
#include "support/tensor.h"

namespace tap {

inline Tensor small_integers(ElementType type, const Shape& shape, std::int64_t start, bool small_ids) {
  Tensor t(type, shape);
  for (std::int64_t k = 0; k < t.size(); ++k) {
    std::int64_t value = (start + 5 * k) % 9 - 3;
    if (is_float(type)) t.store_f64(k, static_cast<double>(value));
    else t.store_i64(k, small_ids || type == ElementType::boolean ? (start + k) % 2 : value);
  }
  return t;
}

// Empty, or where they differ by more than they may.
inline std::string difference(const std::vector<Tensor>& found, const ir::InterpretResult& expected) {
  if (found.size() != expected.outputs.size()) return "another number of results";
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Tensor& a = found[k];
    const Tensor& b = expected.outputs[k];
    if (a.shape() != b.shape() || a.type() != b.type()) return "a result of another type";
    for (std::int64_t c = 0; c < a.size(); ++c) {
      if (!is_float(a.type())) {
        if (a.load_i64(c) != b.load_i64(c)) return "another integer";
        continue;
      }
      double x = a.load_f64(c), y = b.load_f64(c), bound = expected.bounds[k].load_f64(c);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      double allowed = std::isinf(bound) ? 1e-3 * std::max(1.0, std::fabs(y)) : 2 * bound;
      if (!(std::fabs(x - y) <= allowed))
        return "result " + std::to_string(k) + ", cell " + std::to_string(c) + ": " + std::to_string(x) + ", not " +
               std::to_string(y) + ", which may be off by " + std::to_string(bound);
    }
  }
  return "";
}

}  // namespace tap
