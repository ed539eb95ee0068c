#include "passes/shardings/onnx_operation.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/shardings/onnx_devices.h"
#include "passes/shardings/onnx_splits.h"
#include "support/plural.h"

namespace tap::passes::onnx {
namespace {

using ir::onnx::Devices;
using ir::onnx::Parts;
using ir::onnx::Rule;

constexpr std::int64_t most_shards = 1 << 20;

using AxisSet = std::vector<std::uint32_t>;  // factors, in ascending order

// One access to a tensor, with the sharded factors that number its shards, major to minor.
struct Reader {
  std::uint32_t tensor = 0;
  std::vector<std::size_t> digits;  // numbers of sharded factors
  AxisSet axes;                     // of any size except 1
};

class Inference {
 public:
  explicit Inference(const OperationQuery& query) : query_(query), factors_(factors_of(query.op)) {
    splits_.resize(factors_.factors.size());
    set_by_.resize(factors_.factors.size());
  }

  std::vector<Placed> run() {
    if (query_.op.region()) return whole_region();
    if (factors_.operands.empty() && !query_.op.reads.empty()) return without_cells();
    for (const TensorFactors& tensor : factors_.operands) bind(tensor);
    number_shards();
    find_broadcast_axes();
    for (const TensorFactors& tensor : factors_.operands) read(tensor);
    check_equal_operands();
    place_points();
    check_replicated();
    return results();
  }

 private:
  const Placed& placed(std::uint32_t operand) const { return query_.operands[operand]; }
  const Shape& shape(std::uint32_t operand) const { return query_.op.operands[operand].shape; }
  std::string name(std::size_t operand) const { return query_.operand_name(operand); }
  std::string axis_name(const TensorFactors& tensor, std::size_t axis) const {
    return fmt::format("axis {} of {}", axis, name(tensor.tensor));
  }

  std::vector<Placed> whole_region() const {
    for (std::size_t k = 0; k < query_.operands.size(); ++k)
      for (std::size_t a = 0; a < query_.operands[k].axes.size(); ++a)
        if (!query_.operands[k].axes[a].empty())
          throw Broken{Rule::control_flow,
                       fmt::format("axis {} of {}, an operand of a control-flow operation, is sharded", a, name(k)),
                       {static_cast<std::uint32_t>(k)}};
    return std::vector<Placed>(query_.op.results.size());
  }

  // Nothing is computed, so axes do not correspond: a result is where all operands are.
  std::vector<Placed> without_cells() const {
    std::optional<Devices> common;
    for (const Placed& operand : query_.operands) {
      if (operand.is_unsharded()) continue;
      Devices all = all_devices(operand);
      common = common ? both(*common, all) : all;
    }
    std::vector<Placed> out(query_.op.results.size());
    if (!common) return out;
    if (common->empty()) throw Broken{Rule::composable, "no device has a shard of every operand"};
    for (std::size_t r = 0; r < out.size(); ++r)
      out[r] = {std::vector<Parts>(query_.op.results[r].shape.size()), {*common}};
    return out;
  }

  // Sets the splits of a tensor's factors, which must agree with those of other tensors.
  void bind(const TensorFactors& tensor) {
    const Placed& placement = placed(tensor.tensor);
    for (std::size_t a = 0; a < tensor.axes.size(); ++a) {
      static const Parts whole;
      const Parts& axis = placement.axes.empty() ? whole : placement.axes[a];
      std::int64_t extent = shape(tensor.tensor)[a];
      std::vector<std::uint32_t> bound = bound_factors(factors_, tensor.axes[a], extent);
      auto splits = splits_of(axis, factors_, bound, extent);
      if (!splits)
        throw Broken{Rule::aligned_cuts,
                     fmt::format("the {} of {} do not align with its inner axes",
                                 plural(static_cast<std::uint64_t>(shards_of(axis)), "shard"), axis_name(tensor, a)),
                     {tensor.tensor}};
      for (std::size_t k = 0; k < bound.size(); ++k) agree(tensor, a, bound[k], (*splits)[k]);
    }
  }

  void agree(const TensorFactors& tensor, std::size_t axis, std::uint32_t f, const Parts& split) {
    if (factors_.factors[f].size == 1) return;
    if (!split.empty() && factors_.factors[f].kind == FactorKind::need_replication)
      throw Broken{
          Rule::parallel_loop,
          fmt::format("{} is sharded, but the operation cannot run in parallel along it", axis_name(tensor, axis)),
          {tensor.tensor}};
    if (!set_by_[f]) {
      splits_[f] = split;
      set_by_[f] = {&tensor, axis};
      return;
    }
    if (splits_[f] == split) return;
    auto [other, other_axis] = *set_by_[f];
    auto shards = [](const Parts& parts) { return plural(static_cast<std::uint64_t>(shards_of(parts)), "shard"); };
    throw Broken{Rule::same_sharding,
                 fmt::format("{} has {} and the corresponding {} has {}{}: {} and {}", axis_name(*other, other_axis),
                             shards(splits_[f]), axis_name(tensor, axis), shards(split),
                             shards_of(split) == shards_of(splits_[f]) ? " at different boundaries" : "",
                             to_string(placed(other->tensor)), to_string(placed(tensor.tensor))),
                 {other->tensor, tensor.tensor}};
  }

  void number_shards() {
    digit_.assign(factors_.factors.size(), none);
    for (std::uint32_t f = 0; f < factors_.factors.size(); ++f) {
      if (splits_[f].empty()) continue;
      digit_[f] = radix_.size();
      radix_.push_back(shards_of(splits_[f]));
      reduced_ = reduced_ || factors_.factors[f].kind == FactorKind::reduction;
      if (__builtin_mul_overflow(points_, radix_.back(), &points_) || points_ > most_shards)
        throw Broken{Rule::grid, "the sharded axes of its operands make more than 1048576 shards"};
    }
  }

  std::vector<std::size_t> digits_of(const TensorFactors& tensor, const Shape& shape) const {
    std::vector<std::size_t> digits;
    for (std::size_t a = 0; a < tensor.axes.size(); ++a)
      if (shape[a] != 1)
        for (std::uint32_t f : bound_factors(factors_, tensor.axes[a], shape[a]))
          if (digit_[f] != none) digits.push_back(digit_[f]);
    return digits;
  }

  void read(const TensorFactors& tensor) {
    if (!placed(tensor.tensor).is_unsharded())
      readers_.push_back({tensor.tensor, digits_of(tensor, shape(tensor.tensor)), axes_of(tensor)});
  }

  std::size_t shard(const std::vector<std::size_t>& digits, const std::vector<std::int64_t>& point) const {
    std::int64_t number = 0;
    for (std::size_t d : digits) number = number * radix_[d] + point[d];
    return static_cast<std::size_t>(number);
  }
  std::vector<std::int64_t> point_at(std::int64_t number) const {
    std::vector<std::int64_t> point(radix_.size());
    for (std::size_t d = radix_.size(); d-- > 0; number /= radix_[d]) point[d] = number % radix_[d];
    return point;
  }
  const Devices& devices(const Reader& reader, const std::vector<std::int64_t>& point) const {
    return placed(reader.tensor).shards[shard(reader.digits, point)];
  }
  std::string describe(const Reader& reader, const std::vector<std::int64_t>& point) const {
    return fmt::format("shard {} of {} is on {}", shard(reader.digits, point), name(reader.tensor),
                       ir::onnx::to_string(devices(reader, point)));
  }

  static std::vector<std::size_t> as_set(std::vector<std::size_t> digits) {
    std::sort(digits.begin(), digits.end());
    return digits;
  }
  AxisSet axes_of(const TensorFactors& tensor) const {
    AxisSet axes;
    for (std::uint32_t f = 0; f < factors_.factors.size(); ++f)
      if (factors_.factors[f].dim && factors_.factors[f].size != 1 && has_factor(tensor, f)) axes.push_back(f);
    return axes;
  }
  // Axes that some operands have and others lack, or have with size 1.
  void find_broadcast_axes() {
    std::vector<std::size_t> owners(factors_.factors.size());
    for (const TensorFactors& tensor : factors_.operands)
      for (std::uint32_t f : axes_of(tensor)) ++owners[f];
    for (std::uint32_t f = 0; f < owners.size(); ++f)
      if (owners[f] > 0 && owners[f] < factors_.operands.size()) broadcast_.push_back(f);
  }
  bool lacks_broadcast_axis(const Reader& reader) const {
    return !std::includes(reader.axes.begin(), reader.axes.end(), broadcast_.begin(), broadcast_.end());
  }
  static bool share_an_axis(const Reader& a, const Reader& b) {
    AxisSet common;
    std::set_intersection(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(), std::back_inserter(common));
    return !common.empty() || a.axes == b.axes;
  }

  // Operands with a common axis and the same sharded axes must have them on the same devices.
  void check_equal_operands() const {
    for (std::size_t b = 0; b < readers_.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) {
        if (as_set(readers_[a].digits) != as_set(readers_[b].digits) || !share_an_axis(readers_[a], readers_[b]))
          continue;
        for (std::int64_t p = 0; p < points_; ++p) {
          std::vector<std::int64_t> point = point_at(p);
          if (devices(readers_[a], point) == devices(readers_[b], point)) continue;
          throw Broken{Rule::same_sharding,
                       fmt::format("{} and {}: {} and {}", describe(readers_[a], point), describe(readers_[b], point),
                                   to_string(placed(readers_[a].tensor)), to_string(placed(readers_[b].tensor))),
                       {readers_[a].tensor, readers_[b].tensor}};
        }
      }
  }

  // With one broadcast axis, the result is where the operand with that axis is; with several, where all operands are.
  const Reader* deciding() const {
    if (broadcast_.size() != 1) return nullptr;
    for (const Reader& reader : readers_)
      if (!lacks_broadcast_axis(reader)) return &reader;
    return nullptr;
  }

  void place_points() {
    const Reader* first = deciding();
    for (std::int64_t p = 0; p < points_ && !readers_.empty(); ++p) {
      std::vector<std::int64_t> point = point_at(p);
      Devices common = devices(first ? *first : readers_.front(), point);
      for (const Reader& reader : readers_) {
        Devices left = both(common, devices(reader, point));
        if (first && left != common)
          throw Broken{Rule::broadcast,
                       fmt::format("{}; {} is broadcast along it and must be on all of these, but {}",
                                   describe(*first, point), name(reader.tensor), describe(reader, point)),
                       {reader.tensor, first->tensor}};
        common = std::move(left);
      }
      if (common.empty())
        throw Broken{Rule::composable, "no device has all operands: " + describe_all(point), all_readers()};
      at_.push_back(std::move(common));
    }
  }

  // A broadcast operand is on every device of every other operand.
  void check_replicated() const {
    Devices all;
    for (const Reader& reader : readers_) all = either(all, all_devices(placed(reader.tensor)));
    for (const Reader& reader : readers_) {
      Devices own = all_devices(placed(reader.tensor));
      if (own == all || !lacks_broadcast_axis(reader)) continue;
      throw Broken{
          Rule::broadcast,
          fmt::format("{} is broadcast along an axis and is on {}; it must be on all participating devices, {}",
                      name(reader.tensor), ir::onnx::to_string(own), ir::onnx::to_string(all)),
          {reader.tensor}};
    }
  }

  std::vector<std::uint32_t> all_readers() const {
    std::vector<std::uint32_t> all;
    for (const Reader& reader : readers_) all.push_back(reader.tensor);
    return all;
  }

  std::string describe_all(const std::vector<std::int64_t>& point) const {
    std::string text;
    for (std::size_t k = 0; k < readers_.size(); ++k)
      text += (k == 0 ? "" : k + 1 == readers_.size() ? " and " : ", ") + describe(readers_[k], point);
    return text;
  }

  std::vector<Placed> results() const {
    std::vector<Placed> out(query_.op.results.size());
    if (at_.empty()) return out;
    for (const TensorFactors& tensor : factors_.results)
      if (out[tensor.tensor].is_unsharded()) out[tensor.tensor] = result(tensor);
    return out;
  }

  Placed result(const TensorFactors& tensor) const {
    const Shape& shape = query_.op.results[tensor.tensor].shape;
    Placed out;
    for (std::size_t a = 0; a < tensor.axes.size(); ++a) {
      std::vector<std::uint32_t> bound = bound_factors(factors_, tensor.axes[a], shape[a]);
      std::vector<Parts> splits;
      for (std::uint32_t f : bound) splits.push_back(splits_[f]);
      out.axes.push_back(axis_of_splits(splits, factors_, bound, shape[a]));
    }
    std::vector<std::size_t> digits = digits_of(tensor, shape);
    std::int64_t shards = 1;
    for (std::size_t d : digits) shards *= radix_[d];
    out.shards.resize(static_cast<std::size_t>(shards));
    for (std::int64_t p = 0; p < points_; ++p) {
      Devices& devices = out.shards[shard(digits, point_at(p))];
      devices = either(devices, at_[static_cast<std::size_t>(p)]);
    }
    if (reduced_ && query_.reduced == Reduced::on_one)
      for (Devices& devices : out.shards) devices.resize(1);
    return out;
  }

  static constexpr std::size_t none = ~std::size_t{0};

  const OperationQuery& query_;
  Factors factors_;
  std::vector<Parts> splits_;                                                        // by factor
  std::vector<std::optional<std::pair<const TensorFactors*, std::size_t>>> set_by_;  // by factor: the axis that set it
  std::vector<std::size_t> digit_;                                                   // by factor
  std::vector<std::int64_t> radix_;                                                  // by sharded factor
  std::int64_t points_ = 1;
  bool reduced_ = false;
  std::vector<std::uint32_t> broadcast_;  // factors
  std::vector<Reader> readers_;
  std::vector<Devices> at_;  // by point
};

}  // namespace

std::variant<std::vector<Placed>, Broken> infer(const OperationQuery& query) {
  try {
    return Inference(query).run();
  } catch (Broken& broken) { return std::move(broken); }
}

}  // namespace tap::passes::onnx
