#include "cost/work/few_steps.h"

#include <cstdlib>

#include "backend/loops/lanes_apart.h"
#include "cost/work/loop_values.h"
#include "support/tensor.h"

namespace tap::cost {

std::int64_t few_steps(const std::vector<ir::AffineExpr>& at, const ir::TensorType& type, std::uint32_t lane) {
  const std::vector<std::int64_t> strides = row_major_strides(type.shape);
  std::int64_t step = 0;
  for (std::size_t a = 0; a < at.size(); ++a) step += LoopValues::step_of(at[a], lane) * strides[a];
  step = std::abs(step);
  return step >= 2 && step <= backend::most_steps_between_lanes ? step : 0;
}

double rows_across(const backend::Store::Target& target, std::uint32_t lane, const std::vector<Progress>& unrolled) {
  for (const Progress& loop : unrolled)
    if (loop.variable != lane && LoopValues::step_of(target.at.back(), loop.variable) == 1) return loop.rounds;
  return 1;
}

}  // namespace tap::cost
