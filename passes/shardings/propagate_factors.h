// Propagation at one site: the axes on which its tensors agree, factor by factor, and the tensors that adopt them.
//
//   x {a, b}, y {a} of one factor      compatible, {a, b}: y is extended
//   x {a, b}, y {a, c}                 common prefix {a}: none is extended
//   x {a} on i, y {a} on j             basic: neither, since a tensor with i and j cannot have both
//                                      aggressive: the one of the larger tensor
#pragma once

#include "passes/shardings/factor_axes.h"

namespace tap::passes {

enum class Direction : std::uint8_t { none = 0, forward = 1, backward = 2, both = 3 };
constexpr Direction operator|(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr Direction operator&(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}

enum class Strategy : std::uint8_t {
  basic,       // only axes without conflicts at the site
  aggressive,  // each tensor takes the axes it can; size decides conflicts between factors
};

enum class PropagationRole : std::uint8_t {
  full,
  listener,  // its axes do not propagate, but count as conflicts; it can be sharded itself
  absent,
};
struct SiteTensor {
  const TensorFactors* shape = nullptr;
  TensorAxes axes;
  bool result = false;
  PropagationRole part = PropagationRole::full;
};

struct SiteState {
  const ir::Mesh& mesh;
  const Factors& factors;
  std::vector<SiteTensor> tensors;    // operands, then results
  std::vector<Direction> directions;  // by factor
  bool elementwise = false;
  bool conservative = false;  // whole axes only
};

// Extends the axes of `state.tensors`. Returns, for each, whether it changed.
std::vector<bool> propagate_factors(SiteState& state, Strategy strategy);

}  // namespace tap::passes
