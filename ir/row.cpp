#include "ir/row.h"

#include "support/checked.h"

namespace tap::ir {

Box Row::at(const Box& first, std::int64_t n) const {
  Box box = first;
  for (std::uint32_t d : dims) {
    const std::int64_t by = checked::mul(n, first.dims[d].size());
    box.dims[d] = {checked::add(first.dims[d].lo, by), checked::add(first.dims[d].hi, by)};
  }
  return box;
}

bool Row::add(const Box& first, const Box& next) {
  if (next.rank() != first.rank()) return false;
  const Box last = at(first, count - 1);
  std::vector<std::uint32_t> along;
  for (std::uint32_t d = 0; d < next.rank(); ++d) {
    if (next.dims[d] == last.dims[d]) continue;
    if (next.dims[d].lo != last.dims[d].hi || next.dims[d].size() != last.dims[d].size()) return false;
    along.push_back(d);
  }
  if (along.empty() || (count > 1 && along != dims)) return false;
  dims = std::move(along);
  ++count;
  return true;
}

}  // namespace tap::ir
