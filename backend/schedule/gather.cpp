#include "backend/schedule/gather.h"

#include <algorithm>
#include <utility>

#include "backend/schedule/copied_boxes.h"

namespace tap::backend {

using namespace ir;

Row along_members(const Buffer& buffer, bool from, bool to) {
  Row row = buffer.row;
  std::int64_t stride = 1;
  for (auto level = row.rbegin(); level != row.rend(); ++level) {
    level->steps.back() = from ? stride : 0;
    level->steps.push_back(to ? stride : 0);
    stride *= level->count;
  }
  return row;
}

void gather(ScheduleTasks& tasks, const std::vector<BufferId>& parts, BufferId to, std::size_t order) {
  std::vector<Box> left = {tasks.at(to).box};
  auto take = [&](const Box& held, auto copy) {
    std::vector<Box> rest;
    for (const Box& part : left) {
      copy(intersect(part, held));
      for (Box& piece : subtract(part, held)) rest.push_back(std::move(piece));
    }
    left = std::move(rest);
  };
  for (BufferId from : parts) {
    const Buffer rows = tasks.at(from);
    const std::optional<TiledRow> tiled = tiles_of(rows.box, along_members(rows, true, false));
    const bool at_once =
        tiled && std::any_of(left.begin(), left.end(), [&](const Box& part) { return part.contains(tiled->all); });
    if (at_once) tasks.copy({from, to, rows.box, tiled->row}, order);
    if (at_once) take(tiled->all, [](const Box&) {});
    for (std::int64_t n = 0; !at_once && n < count_of(rows.row); ++n)
      take(member(rows, n).box, [&](const Box& part) { tasks.copy({{from, n}, to, part}, order); });
  }
}

}  // namespace tap::backend
