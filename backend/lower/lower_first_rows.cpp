// Operands that the first rows of a block copy as they use them (packing.h), so that the copy takes no time of its own.
//
//   for panels of b
//     for k in kc..ke                  the first 14 rows
//       fetch b[k + 48, j]
//       p[k - kc, j - j0] = b[k, j]
//       … { acc[…] = acc[…] + a[i, k] * p[k - kc, j - j0] }      the value stays in a register
//     for other panels of rows …       read p
#include "backend/lower/lowering.h"

namespace tap::backend {

using namespace ir;

// One panel for each operand: it is read before the next one is filled. Redirects the cells' reads to it.
std::vector<Lowering::Pack> Lowering::panels_of_first_rows(const PackedDim& along, const std::optional<Block>& chunk,
                                                           const Packing& packing, const Extents& extents) {
  PackedDim one = along;
  one.block_size = one.step;
  std::vector<Pack> copied;
  for (std::uint32_t read : packing.lane_reads) {
    copied.push_back(pack_of(read, one, chunk, packing, extents));
    copied.back().at.front() = number(0);
  }
  for (const Pack& pack : copied) read_from(pack);
  return copied;
}

std::vector<Statement> Lowering::copy_on_the_way(const std::vector<Pack>& copied, const RegisterTile& tile,
                                                 const Part& rows, const Part& lanes, std::size_t along) {
  std::vector<std::uint32_t> from_copies = loads_;
  for (const Pack& pack : copied) loads_[pack.read] = pack.source;
  auto result = prefetch_ahead(tile, &rows, lanes, along);
  loads_ = std::move(from_copies);
  for (const Pack& pack : copied) {
    Store store;
    store.targets.push_back(
        {pack.tensor, pack.at, kernel_.exprs.read(pack.source, op_.operands[op_.reads[pack.read].tensor].element)});
    append(result, across(tile, nullptr, &lanes, {{std::move(store)}}));
  }
  return result;
}

// Calls may split a dim after any register tile, so the remaining rows may be alone and the first ones.
std::vector<Statement> Lowering::first_and_other_rows(
    const RegisterTile& tile, const Panels& panels, const Extents& extents,
    const std::function<std::vector<Statement>(std::uint32_t, bool)>& one) const {
  const AffineExpr whole = variable(panels.whole), all = variable(panels.all);
  For first = over(panels, number(0), whole, one(tile.row_count, true));
  first.upper.push_back(bound(number(1)));
  std::vector<Statement> result{{std::move(first)}};
  result.push_back({over(panels, number(1), whole, one(tile.row_count, false))});
  const auto rest = static_cast<std::uint32_t>(extents.sizes[*tile.rows] % tile.row_count);
  if (rest == 0) return result;
  for (bool alone : {false, true}) {
    Guard guard;
    if (alone) guard.conditions.push_back({whole, Comparison::equal_zero});
    else guard.conditions.push_back({plus(whole, number(-1)), Comparison::at_least_zero});
    guard.body.push_back({over(panels, whole, all, one(rest, alone))});
    result.push_back({std::move(guard)});
  }
  return result;
}

}  // namespace tap::backend
