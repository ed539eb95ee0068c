#include "passes/shardings/factor_axes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::Axes;
using ir::AxisRef;
using ir::Mesh;
using ir::SubAxis;

// Distributes the axes of one tensor axis, major to minor, splitting an axis if a factor takes only a part.
class AxisSupply {
 public:
  AxisSupply(const Mesh& mesh, const Axes& axes) : mesh_(mesh), axes_(axes) { enter(); }

  bool empty() const { return at_ == axes_.size(); }
  std::int64_t size() const { return rest_.size; }
  // The major part, of this size.
  AxisRef take(std::int64_t size) {
    AxisRef part = axis_of(mesh_, axes_[at_].id, {rest_.pre_size, size});
    rest_ = {rest_.pre_size * size, rest_.size / size};
    if (rest_.size == 1) {
      ++at_;
      enter();
    }
    return part;
  }
  Axes take_all() {
    Axes all;
    while (!empty()) append(mesh_, all, take(rest_.size));
    return all;
  }

 private:
  void enter() {
    if (!empty()) rest_ = digit(mesh_, axes_[at_]);
  }

  const Mesh& mesh_;
  const Axes& axes_;
  std::size_t at_ = 0;
  SubAxis rest_;
};

// A factor that is not the minor one takes axes that divide it; true if an axis remains that does not.
bool fill_evenly(FactorAxes& factor, std::int64_t points, AxisSupply& supply) {
  while (!supply.empty()) {
    std::int64_t common = std::gcd(points, supply.size());
    if (common == 1 && supply.size() != 1) break;
    factor.axes.push_back(supply.take(common));
    points /= common;
  }
  if (points <= 1 || supply.empty()) return false;
  factor.overflow = supply.take_all();
  return true;
}

}  // namespace

const FactorAxes* TensorAxes::find(std::uint32_t factor) const {
  for (const FactorAxes& f : factors)
    if (f.factor == factor) return &f;
  return nullptr;
}
FactorAxes* TensorAxes::find(std::uint32_t factor) {
  return const_cast<FactorAxes*>(std::as_const(*this).find(factor));
}

TensorAxes axes_by_factor(const Mesh& mesh, const Factors& all, const TensorFactors& tensor,
                          const std::optional<ir::Sharding>& sharding) {
  TensorAxes out;
  const Axes none;
  for (std::size_t a = 0; a < tensor.axes.size(); ++a) {
    AxisSupply supply(mesh, sharding ? sharding->dims[a].axes : none);
    bool closed = sharding && !sharding->dims[a].open, overflowed = false;
    const std::vector<std::uint32_t>& factors = tensor.axes[a].factors;
    for (std::size_t k = 0; k < factors.size(); ++k) {
      FactorAxes factor{factors[k], {}, {}, closed || overflowed, k + 1 == factors.size()};
      if (!overflowed) {
        if (factor.minor) factor.axes = supply.take_all();
        else overflowed = fill_evenly(factor, all.factors[factors[k]].size, supply);
      }
      out.factors.push_back(std::move(factor));
    }
  }
  if (!sharding) return out;
  out.replicated = sharding->replicated;
  out.unreduced = sharding->unreduced;
  out.unreduced_monoid = sharding->unreduced_monoid;
  return out;
}

ir::Sharding sharding_from(const Mesh& mesh, ir::MeshId id, const Factors& all, const TensorFactors& tensor,
                           const TensorAxes& axes) {
  ir::Sharding out{id, {}, axes.replicated, axes.unreduced, axes.unreduced_monoid};
  for (const AxisFactors& axis : tensor.axes) {
    ir::DimSharding dim{{}, true, std::nullopt};
    bool ended = false;  // splitting the next factor would leave gaps, since this one is not full
    for (std::uint32_t f : axis.factors) {
      const FactorAxes& factor = *axes.find(f);
      if (ended) break;
      if (factor.closed) dim.open = false;
      for (const AxisRef& a : factor.axes) append(mesh, dim.axes, a);
      for (const AxisRef& a : factor.overflow) append(mesh, dim.axes, a);
      ended = !factor.overflow.empty() || size_of(mesh, factor.axes) < all.factors[f].size;
    }
    out.dims.push_back(std::move(dim));
  }
  return out;
}

}  // namespace tap::passes
