#include "passes/shardings/propagate_factors.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "ir/shardings/mesh_position.h"

namespace tap::passes {
namespace {

using ir::Axes;
using ir::AxisRef;
using ir::Mesh;

bool is_strict_prefix(const Mesh& mesh, const Axes& a, const Axes& b) { return a != b && is_prefix(mesh, a, b); }

// The common part of several lists, updated list by list.
struct Agreement {
  const Mesh& mesh;
  Axes axes = {};
  bool grows = true;  // no list has conflicted, so the next one may add axes

  void look_at(const Axes& list) {
    Axes agreed;
    std::size_t k = 0;
    for (; k < axes.size() && k < list.size(); ++k) {
      bool last_of_list = k + 1 == list.size(), last_of_axes = k + 1 == axes.size();
      if (axes[k] == list[k]) agreed.push_back(list[k]);
      // A part of an axis with more axes after it is not a prefix of the whole: what follows conflicts.
      else if (is_prefix(mesh, list[k], axes[k])) {
        agreed.push_back(last_of_list ? axes[k] : list[k]);
        if (!last_of_list) return stop(std::move(agreed));
      } else if (is_prefix(mesh, axes[k], list[k])) {
        bool longer = grows && last_of_axes;
        agreed.push_back(longer ? list[k] : axes[k]);
        if (!longer) return stop(std::move(agreed));
      } else return stop(std::move(agreed));
    }
    agreed.insert(agreed.end(), axes.begin() + static_cast<std::ptrdiff_t>(std::min(k, axes.size())), axes.end());
    if (grows)
      agreed.insert(agreed.end(), list.begin() + static_cast<std::ptrdiff_t>(std::min(k, list.size())), list.end());
    axes = std::move(agreed);
  }

 private:
  void stop(Axes agreed) {
    axes = std::move(agreed);
    grows = false;
  }
};

class Propagation {
 public:
  explicit Propagation(SiteState& state) : state_(state), mesh_(state.mesh), grown_(state.tensors.size()) {}

  std::vector<bool> basic() {
    for (std::uint32_t f = 0; f < state_.factors.factors.size(); ++f) {
      Axes axes = agreed_on(f);
      truncate(axes, [&](AxisRef axis, std::int64_t before) { return fitting_all_tensors(axis, f, before); });
      for (std::size_t t = 0; t < state_.tensors.size(); ++t) grow(t, f, axes);
    }
    return std::move(grown_);
  }

  std::vector<bool> aggressive() {
    std::vector<Axes> agreed;
    for (std::uint32_t f = 0; f < state_.factors.factors.size(); ++f) agreed.push_back(agreed_on(f));
    std::vector<std::uint32_t> order = by_weight(agreed);
    for (bool results : {true, false})
      for (std::size_t t = 0; t < state_.tensors.size(); ++t)
        if (state_.tensors[t].result == results)
          for (std::uint32_t f : order) grow_maximally(t, f, agreed[f]);
    return std::move(grown_);
  }

 private:
  // The axes for a factor on which the participating tensors agree, major to minor.
  Axes agreed_on(std::uint32_t f) const {
    Direction direction = state_.directions[f];
    if (direction == Direction::none) return {};
    auto speaks = [&](const SiteTensor& t) {
      Direction needed = t.result ? Direction::backward : Direction::forward;
      return t.part == PropagationRole::full && (direction & needed) == needed;
    };
    Agreement agreement{mesh_};
    auto hear = [&](bool speakers) {
      for (const SiteTensor& t : state_.tensors)
        if (const FactorAxes* own = t.part == PropagationRole::absent ? nullptr : t.axes.find(f);
            own && speaks(t) == speakers)
          agreement.look_at(own->axes);
    };
    hear(true);
    agreement.grows = false;
    hear(false);
    return agreement.axes;
  }

  // Truncates the list where an axis does not fit, or fits only in part.
  template <class Fitting>
  void truncate(Axes& axes, Fitting fitting) const {
    std::int64_t before = 1;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      std::optional<AxisRef> fits = fitting(axes[k], before);
      if (!fits || (state_.conservative && fits->sub)) return axes.resize(k);
      if (!(*fits == axes[k])) {
        axes[k] = *fits;
        return axes.resize(k + 1);
      }
      before *= size_of(mesh_, axes[k]);
    }
  }

  std::optional<AxisRef> disjoint_prefix(std::optional<AxisRef> axis, const Axes& others) const {
    for (const AxisRef& other : others)
      if (axis) axis = prefix_without(mesh_, *axis, other);
    return axis;
  }

  // The part of an axis that no other factor of the tensor uses.
  std::optional<AxisRef> free_of_other_factors(AxisRef axis, const TensorAxes& tensor, std::uint32_t f) const {
    std::optional<AxisRef> left = axis;
    for (const FactorAxes& other : tensor.factors)
      if (other.factor != f) left = disjoint_prefix(disjoint_prefix(left, other.axes), other.overflow);
    return left;
  }

  // The part of an axis that the tensor's factor has or can have after `before` blocks.
  std::optional<AxisRef> fitting_factor(AxisRef axis, const TensorAxes& tensor, const FactorAxes& own,
                                        std::int64_t before) const {
    std::optional<AxisRef> left = disjoint_prefix(disjoint_prefix(axis, tensor.replicated), tensor.unreduced);
    if (!left) return std::nullopt;
    for (const AxisRef& has : own.axes)
      if (contains(mesh_, has, *left)) return left;
    if (!own.closed && own.overflow.empty()) {
      if (own.minor) return left;
      if (std::int64_t points = state_.factors.factors[own.factor].size; points % before == 0) {
        std::int64_t size = size_of(mesh_, *left), common = std::gcd(points / before, size);
        if (common == size) return left;
        if (common > 1) return axis_of(mesh_, left->id, {digit(mesh_, *left).pre_size, common});
      }
    }
    // It cannot grow, but its part of that axis can stay.
    if (!own.axes.empty() && is_prefix(mesh_, own.axes.back(), *left)) return own.axes.back();
    return std::nullopt;
  }

  std::optional<AxisRef> fitting_all_tensors(AxisRef axis, std::uint32_t f, std::int64_t before) const {
    std::optional<AxisRef> left = axis;
    for (const SiteTensor& t : state_.tensors) {
      if (t.part == PropagationRole::absent) continue;
      if (left) left = free_of_other_factors(*left, t.axes, f);
      if (const FactorAxes* own = t.axes.find(f); own && left) left = fitting_factor(*left, t.axes, *own, before);
    }
    return left;
  }

  void grow(std::size_t t, std::uint32_t f, const Axes& axes) {
    if (state_.tensors[t].part == PropagationRole::absent) return;
    FactorAxes* own = state_.tensors[t].axes.find(f);
    if (!own || !is_strict_prefix(mesh_, own->axes, axes)) return;
    own->axes = axes;
    grown_[t] = true;
  }

  void grow_maximally(std::size_t t, std::uint32_t f, Axes axes) {
    const SiteTensor& tensor = state_.tensors[t];
    const FactorAxes* own = tensor.part == PropagationRole::absent ? nullptr : tensor.axes.find(f);
    if (!own) return;
    truncate(axes, [&](AxisRef axis, std::int64_t before) { return fitting_factor(axis, tensor.axes, *own, before); });
    if (!is_strict_prefix(mesh_, own->axes, axes)) return;
    truncate(axes, [&](AxisRef axis, std::int64_t) { return free_of_other_factors(axis, tensor.axes, f); });
    // Operands propagate to operands only as far as a result does: axes that the result lacks would be gathered at
    // once.
    if (!tensor.result && state_.elementwise)
      for (const SiteTensor& result : state_.tensors)
        if (const FactorAxes* its = result.result ? result.axes.find(f) : nullptr;
            its && is_strict_prefix(mesh_, its->axes, axes))
          axes = its->axes;
    grow(t, f, axes);
  }

  // Order of decision in a conflict: the factor of the larger tensor first; for elementwise operations, then the one
  // with more blocks; then the earlier tensor.
  std::vector<std::uint32_t> by_weight(const std::vector<Axes>& agreed) const {
    struct Source {
      double cells = -1;
      std::int64_t blocks = 0;
      std::size_t tensor = 0;
    };
    std::vector<Source> sources(agreed.size());
    for (std::size_t t = 0; t < state_.tensors.size(); ++t) {
      if (state_.tensors[t].part == PropagationRole::absent) continue;
      double cells = 1;
      for (const FactorAxes& own : state_.tensors[t].axes.factors)
        cells *= static_cast<double>(state_.factors.factors[own.factor].size);
      for (const FactorAxes& own : state_.tensors[t].axes.factors) {
        const Axes& axes = agreed[own.factor];
        Source& source = sources[own.factor];
        if (!axes.empty() && is_prefix(mesh_, axes, own.axes) && cells > source.cells)
          source = {cells, state_.elementwise ? size_of(mesh_, axes) : 0, t};
      }
    }
    std::vector<std::uint32_t> order(agreed.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Source &x = sources[a], &y = sources[b];
      return std::tuple(-x.cells, -x.blocks, x.tensor) < std::tuple(-y.cells, -y.blocks, y.tensor);
    });
    return order;
  }

  SiteState& state_;
  const Mesh& mesh_;
  std::vector<bool> grown_;
};

}  // namespace

std::vector<bool> propagate_factors(SiteState& state, Strategy strategy) {
  Propagation propagation(state);
  return strategy == Strategy::basic ? propagation.basic() : propagation.aggressive();
}

}  // namespace tap::passes
