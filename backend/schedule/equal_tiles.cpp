#include "backend/schedule/equal_tiles.h"

#include <algorithm>

#include "backend/loops/equal_work.h"

namespace tap::backend {

bool EqualTiles::of(const ir::Batch& batch) {
  const auto* first = std::get_if<ir::KernelCall>(&batch.front().what);
  if (!first) return false;
  std::vector<bool> moves(first->box.rank(), false);
  if (const auto tile_dim = kernels_[first->kernel].tile_dim) moves[*tile_dim] = true;
  for (const ir::ScheduledTask& task : batch) {
    const auto* call = std::get_if<ir::KernelCall>(&task.what);
    if (!call || call->kernel != first->kernel || task.tiles != batch.front().tiles ||
        call->box.shape() != first->box.shape())
      return false;
    for (std::size_t d = 0; d < moves.size(); ++d)
      moves[d] =
          moves[d] || call->box.dims[d] != first->box.dims[d] ||
          std::any_of(call->row.begin(), call->row.end(), [d](const ir::Level& level) { return level.steps[d] != 0; });
  }
  for (std::size_t d = 0; d < moves.size(); ++d)
    if (moves[d] && !works_equally(first->kernel, d)) return false;
  return true;
}

bool EqualTiles::works_equally(std::size_t kernel, std::size_t dim) {
  auto [known, fresh] = known_.try_emplace({kernel, dim});
  if (fresh) known->second = has_equal_work(kernels_[kernel], dim);
  return known->second;
}

}  // namespace tap::backend
