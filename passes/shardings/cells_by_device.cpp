#include "passes/shardings/cells_by_device.h"

#include <algorithm>

#include "ir/shardings/mesh_position.h"
#include "passes/shardings/reads.h"

namespace tap::passes {

std::vector<std::int64_t> taken(std::vector<std::int64_t>& left, std::int64_t most) {
  std::vector<std::int64_t> cells;
  for (std::int64_t& at : left) {
    cells.push_back(std::min(at, most));
    at -= cells.back();
  }
  return cells;
}

std::map<std::int64_t, std::int64_t> by_device(const ir::Mesh& mesh, const std::vector<std::int64_t>& cells,
                                               ElementType element) {
  std::map<std::int64_t, std::int64_t> bytes;
  if (std::ranges::all_of(cells, [&](std::int64_t n) { return n == cells.front(); })) return bytes;
  const std::vector<std::int64_t> positions = positions_of(mesh);
  for (std::size_t k = 0; k < cells.size(); ++k)
    bytes.emplace(ir::device_at(mesh, positions[k]), cells[k] * static_cast<std::int64_t>(size_of(element)));
  return bytes;
}

}  // namespace tap::passes
