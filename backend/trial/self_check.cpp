#include "backend/trial/self_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "backend/trial/check_data.h"
#include "backend/trial/reference.h"
#include "ir/block_graph.h"
#include "ir/interpret/interpret.h"
#include "runtime/guarded_results.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

namespace {

constexpr std::size_t guard_cells = 512;  // before the first cell and after the last one
constexpr std::int64_t gap_cells = 3;     // after each row
constexpr std::byte operand_noise{0xff};  // a NaN for floats
constexpr std::byte result_noise{0x5b};

std::int64_t at_least(std::int64_t numerator, std::int64_t divisor) {  // ⌈n / d⌉, d > 0
  return numerator / divisor + (numerator % divisor > 0 ? 1 : 0);
}

// The points of the map's box that read in this part, or more: dim by dim, with the other dims anywhere. A fill beyond
// the edge of the tensor counts for a part that reaches the edge.
Box readers_of(const Operator& map, const Box& part) {
  Box found = map.box();
  for (std::size_t axis = 0; axis < part.rank(); ++axis) {
    const AffineExpr& row = map.reads[0].projection.start.rows[axis];
    Range within = part.dims[axis];
    if (within.empty()) continue;  // only fills
    constexpr std::int64_t far = std::int64_t{1} << 60;
    if (within.lo <= 0) within.lo = -far;
    if (within.hi >= map.operands[0].shape[axis]) within.hi = far;
    for (std::size_t d = 0; d < map.dims.size(); ++d) {
      const std::int64_t c = row.coefficients[d];
      if (c == 0) continue;
      AffineExpr others = row;
      others.coefficients[d] = 0;
      const Range rest = others.bounds(map.box());
      Range scaled{within.lo - (rest.hi - 1), within.hi - rest.lo};
      if (c < 0) scaled = {-(scaled.hi - 1), -scaled.lo + 1};
      found.dims[d] =
          intersect(found.dims[d], Range{at_least(scaled.lo, std::abs(c)), at_least(scaled.hi, std::abs(c))});
    }
  }
  return found;
}

class CaseMaker {
 public:
  CaseMaker(const Program& program, const KernelSource& source, const Kernel& kernel)
      : program_(program), source_(source), kernel_(kernel), op_(source.op) {}

  CheckCase make(const Box& box, CheckNumbers numbers, bool in_two_calls) {
    CheckCase trial;
    // As in the schedule; the counter of an iterate is at its start.
    const Box called = op_.region() ? box : box_to_run(op_, narrowed(op_, box));
    for (const Range& range : called.dims) {
      trial.box.push_back(range.lo);
      trial.box.push_back(range.hi);
    }
    const std::int64_t tiles = tile_count(kernel_, called);
    if (in_two_calls && tiles > 1) trial.calls = {{0, 1}, {1, tiles}};
    else trial.calls = {{0, tiles}};
    trial.scratch = scratch_bytes(kernel_);

    const TouchedParts touched = parts_for(box);
    const std::vector<CoordinateRange> coordinates = coordinate_ranges(program_, op_);
    std::deque<TensorPart> parts, results;
    std::vector<const TensorPart*> operands;
    std::vector<TensorPart*> into;
    for (std::size_t k = 0; k < op_.operands.size(); ++k) {
      const ElementType element = op_.operands[k].element;
      parts.push_back(numbered_part(element, touched.operands[k], k, numbers, coordinates[k]));
      operands.push_back(&parts.back());
      const TensorPart* part = operands.back();
      TensorPart made;
      for (const PreparedOperand& p : source_.prepared) {
        if (p.operand != k) continue;
        made = prepared(p.map, parts.back().box, k, numbers);
        part = &made;
      }
      const auto joined = part == &made ? not_joined(*part) : joined_extents(k, *part);
      trial.tensors.push_back(in_memory("operand " + std::to_string(k), *part, joined, operand_noise));
      put(*part, trial.tensors.back());
    }
    for (std::size_t k = 0; k < op_.results.size(); ++k) {
      results.push_back(blank_part(op_.results[k].element, touched.results[k]));
      into.push_back(&results.back());
    }
    try {
      evaluate_reference(program_, op_, box, operands, into);
    } catch (const EvaluationError&) { trial.fails = true; }
    for (std::size_t k = 0; k < results.size(); ++k) {
      trial.tensors.push_back(in_memory("result " + std::to_string(k), results[k],
                                        joined_extents(op_.operands.size() + k, results[k]), result_noise));
      expect(results[k], touched.own[k], trial.tensors.back(), trial.fails);
    }
    return trial;
  }

  // The number of cells in the parts of tensors that the box touches.
  double cells_of(const Box& box) const {
    const TouchedParts touched = parts_for(box);
    double cells = 0;
    for (const auto* list : {&touched.operands, &touched.results})
      for (const Box& part : *list) {
        double product = 1;
        for (const Range& range : part.dims) product *= static_cast<double>(range.size());
        cells += product;
      }
    return cells;
  }

 private:
  // Along data-dependent axes, the prefix that coordinates may reach.
  TouchedParts parts_for(const Box& box) const {
    TouchedParts touched = touched_parts(program_, op_, box);
    for (std::uint32_t k = 0; k < touched.operands.size(); ++k)
      for (std::size_t axis = 0; axis < touched.operands[k].rank(); ++axis) {
        Range& range = touched.operands[k].dims[axis];
        range = intersect(range, Range{0, std::max(reached_part(op_, k, axis), range.lo)});
      }
    return touched;
  }
  // What the map makes of the operand, for the reads in the part.
  TensorPart prepared(const Operator& map, const Box& part, std::size_t operand, CheckNumbers numbers) const {
    const Box box = readers_of(map, part);
    const TensorPart from =
        numbered_part(map.operands[0].element, touched_parts(program_, map, box).operands[0], operand, numbers, {});
    TensorPart made = blank_part(map.results[0].element, touched_parts(program_, map, box).results[0]);
    evaluate_reference(program_, map, box, {&from}, {&made});
    return made;
  }

  // By axis, the cells from one to the next of the axis outside it, if the kernel relies on it (merged_dims.h, lowered.cpp).
  using JoinedExtents = std::vector<std::optional<std::int64_t>>;
  static JoinedExtents not_joined(const TensorPart& part) { return JoinedExtents(part.box.rank()); }
  // Pre: not a prepared operand, whose axes are others.
  JoinedExtents joined_extents(std::size_t tensor, const TensorPart& part) const {
    const std::size_t operands = op_.operands.size();
    const Shape &own = (tensor < operands ? op_.operands[tensor] : op_.results[tensor - operands]).shape,
                &merged = kernel_.tensors[tensor].type.shape;
    JoinedExtents extents = not_joined(part);
    bool is_inside = false;
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      const bool is_whole = axis + kernel_.tensors[tensor].whole >= own.size();
      if (is_whole || (is_inside && own[axis] != 1)) extents[axis] = own[axis];
      if (own[axis] == 1) continue;
      is_inside = merged[axis] == 1;
    }
    if (!own.empty() && own.back() != merged.back() && own.back() == 1) extents.back() = 1;  // another axis comes last
    return extents;
  }

  // Rows with gaps in between; the last axis is contiguous.
  static CheckedTensor in_memory(std::string name, const TensorPart& part, const JoinedExtents& joined,
                                 std::byte noise) {
    CheckedTensor tensor{std::move(name), part.element, {}, 0, {}, {}};
    const auto size = static_cast<std::int64_t>(size_of(part.element));
    tensor.strides.resize(part.box.rank());
    std::int64_t cells = 1, first = guard_cells;
    for (std::size_t axis = part.box.rank(); axis-- > 0;) {
      tensor.strides[axis] = cells;
      cells *= joined[axis].value_or(std::max<std::int64_t>(part.box.dims[axis].size(), 1));
      if (axis + 1 == part.box.rank() && !joined[axis]) cells += gap_cells;
      first -= part.box.dims[axis].lo * tensor.strides[axis];
    }
    tensor.origin = first * size;
    tensor.bytes.assign(static_cast<std::size_t>((cells + 2 * static_cast<std::int64_t>(guard_cells)) * size), noise);
    return tensor;
  }

  template <class Each>
  static void each_cell(const TensorPart& part, const CheckedTensor& tensor, Each each) {
    const auto size = static_cast<std::int64_t>(size_of(part.element));
    std::int64_t number = 0;
    auto p = first_point(part.box);
    for (bool more = p.has_value(); more; more = next_point(part.box, *p), ++number) {
      std::int64_t at = tensor.origin;
      for (std::size_t axis = 0; axis < p->size(); ++axis) at += (*p)[axis] * tensor.strides[axis] * size;
      each(number, static_cast<std::size_t>(at), *p);
    }
  }

  static void put(const TensorPart& part, CheckedTensor& tensor) {
    const std::size_t size = size_of(part.element);
    each_cell(part, tensor, [&](std::int64_t number, std::size_t at, const Point&) {
      std::memcpy(tensor.bytes.data() + at, part.cells.value.data() + static_cast<std::size_t>(number) * size, size);
    });
  }

  // If the operator fails, everything that it may write.
  static void expect(const TensorPart& part, const Box& own, CheckedTensor& tensor, bool fails) {
    each_cell(part, tensor, [&](std::int64_t number, std::size_t at, const Point& p) {
      const double bound = part.cells.bound.load_f64(number);
      if (bound < 0 && !fails) return;
      ExpectedCell cell{at, 0, 0, bound, p};
      if (is_float(part.element)) cell.number = part.cells.value.load_f64(number);
      else cell.integer = part.cells.value.load_i64(number);
      cell.optional = !own.contains(p);
      tensor.expected.push_back(std::move(cell));
    });
  }

  const Program& program_;
  const KernelSource& source_;
  const Kernel& kernel_;
  const Operator& op_;
};

// Dims that a smaller box would not have in the form that its loops expect keep their size: block dims, dims that they
// split, and counters. With `deep`, reduction dims shrink last, so that a few results are combined in all blocks.
std::vector<Shrinks> shrinkable_dims(const Operator& op, bool deep) {
  std::vector<Shrinks> how(op.dims.size(), Shrinks::with_others);
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    if (op.dims[d].role == DimRole::counter) how[d] = Shrinks::never;
    if (op.dims[d].role == DimRole::reduction && deep) how[d] = Shrinks::last;
  }
  for (const Blocking& b : op.blockings) {
    how[b.block_dim] = Shrinks::never;
    if (op.region()) how[b.dim] = Shrinks::never;
  }
  return how;
}

}  // namespace

SelfCheckOptions self_check_options(bool on) {
  SelfCheckOptions options;
  options.on = on;
  if (tests_are_thorough()) options = {true, {20000, 200000, 200000}};
  return options;
}

std::vector<CheckCase> cases_for(const Program& program, const KernelSource& source, const Kernel& kernel,
                                 const SelfCheckOptions& options) {
  std::vector<CheckCase> trials;
  CaseMaker maker(program, source, kernel);
  auto points = [&](const Box& box) { return points_of(program, source.op, box); };
  for (const Box& source_box : source.boxes) {
    Box whole = source_box.empty() ? source_box : narrowed(source.op, source_box);
    for (std::size_t d = 0; d < whole.rank(); ++d)
      if (source.op.dims[d].role == DimRole::counter)
        whole.dims[d] = {source.op.dims[d].range.lo, source.op.dims[d].range.lo + 1};
    if (whole.empty()) continue;
    for (bool deep : {false, true}) {
      const CheckBudget budget{deep ? options.budget.deep : options.budget.points, options.budget.most, 0};
      auto sizes = choose_sizes(whole, source.steps, shrinkable_dims(source.op, deep), budget, points);
      if (!sizes || maker.cells_of(box_at(whole, *sizes, false)) > options.budget.most) continue;
      if (deep) trials.push_back(maker.make(box_at(whole, *sizes, false), CheckNumbers::positive, false));
      else trials.push_back(maker.make(box_at(whole, *sizes, true), CheckNumbers::mixed, true));
      if (!trials.back().fails && *sizes == whole.shape()) break;  // nothing is left to test
    }
  }
  return trials;
}

std::string describe(const KernelSource& source, const CheckCase& trial) {
  std::string text;
  for (std::size_t d = 0; d < source.op.dims.size(); ++d)
    text +=
        fmt::format("{}{} {}..{}", d == 0 ? "" : ", ", source.op.dims[d].name, trial.box[2 * d], trial.box[2 * d + 1]);
  return text.empty() ? "its only point" : "the box " + text;
}

void check_kernel(const Program& program, const KernelSource& source, std::size_t number, const Kernel& kernel,
                  KernelFunction function, const SelfCheckOptions& options) {
  for (const CheckCase& trial : cases_for(program, source, kernel, options))
    if (auto wrong = try_kernel(trial, function))
      throw InternalError(fmt::format("the self-check rejects kernel {} of `{}`: {} (on {}, in {} calls)", number,
                                      source.op.name, *wrong, describe(source, trial), trial.calls.size()));
}

}  // namespace tap::backend
