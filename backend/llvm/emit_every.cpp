// Lanes whose cells are a few apart, or in reverse order: whole vectors are loaded, of which shuffles take the cells.
//
//   x[2*j] of 16 lanes      loads 16 cells from x[2*j0] on, and 16 from x[2*j0 + 15] on: a shuffle takes 0, 2, … of both
//
// A gather takes an access for each lane. No cell before the first or after the last one is read, except those that other reads of the
// statement need: x[2*j] and x[2*j + 1] take the cells of the same two vectors. Stores are the inverse: shuffles place the cells of all
// rows of an unrolled loop, and masks leave out those between them.
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "backend/llvm/emit_every.h"
#include "backend/llvm/emit_non_temporal.h"
#include "backend/llvm/emit_straight.h"
#include "backend/llvm/lane_masks.h"
#include "backend/loops/lanes_apart.h"

namespace tap::backend {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;
using llvm::Value;

namespace {

// Lane `lane` of the result is the cell `first + lane * step` of the window. Pre: each vector has a cell of some lane.
Value* shuffled(llvm::IRBuilderBase& b, const std::vector<Value*>& parts, const WindowVectors& vectors,
                std::int64_t first, std::int64_t step) {
  Value* all = nullptr;
  for (std::uint32_t k = 0; k < vectors.count; ++k) {
    std::vector<int> chosen;  // lanes of `all`, then of the part
    for (std::uint32_t lane = 0; lane < vectors.lanes; ++lane) {
      const auto at = static_cast<std::uint32_t>(first + lane * step);
      const bool is_new = at >= k * vectors.lanes && at < vectors.from(k) + vectors.lanes;
      if (k == 0) chosen.push_back(is_new ? static_cast<int>(at) : 0);
      else chosen.push_back(static_cast<int>(is_new ? vectors.lanes + at - vectors.from(k) : lane));
    }
    all = k == 0 ? b.CreateShuffleVector(parts[k], chosen) : b.CreateShuffleVector(all, parts[k], chosen);
  }
  return all;
}

// The cells from the first of `a` to that of `b`, if they are the same number in all lanes and loops.
std::optional<std::int64_t> cells_between(const EmitState& s, const Load& a, const Load& b) {
  if (a.tensor != b.tensor) return {};
  std::int64_t cells = 0;
  for (std::size_t axis = 0; axis < a.at.size(); ++axis) {
    const auto &from = a.at[axis], &to = b.at[axis];
    if (from.data || to.data || from.checked || to.checked) return {};
    const ir::AffineExpr apart = to.affine - from.affine;
    if (!apart.is_constant()) return {};
    if (apart.offset == 0) continue;
    auto* stride = llvm::dyn_cast<llvm::ConstantInt>(s.strides[a.tensor][axis]);
    if (!stride) return {};
    cells += apart.offset * stride->getSExtValue();
  }
  return cells;
}

// Of the vector that begins `from` cells after the first: by cell, which lane of which row. Rows that are absent are free.
struct Interleaved {
  std::uint32_t from, lanes, distance, rows;
  bool reversed;

  std::uint32_t row(std::uint32_t cell) const { return (from + cell) % distance; }
  std::uint32_t lane(std::uint32_t cell) const {
    const std::uint32_t at = (from + cell) / distance;
    return reversed ? lanes - 1 - at : at;
  }
};

Value* interleave(llvm::IRBuilderBase& b, const std::vector<Value*>& rows, const Interleaved& cells) {
  Value* all = rows[0];
  for (std::uint32_t r = 0; r < rows.size(); ++r) {
    if (r == 0 && rows.size() > 1) continue;  // its lanes come with those of the second
    std::vector<int> chosen(cells.lanes, -1);
    for (std::uint32_t c = 0; c < cells.lanes; ++c) {
      const std::uint32_t row = cells.row(c), lane = cells.lane(c);
      if (row == r) chosen[c] = static_cast<int>(r == 0 ? lane : cells.lanes + lane);
      else if (row < r) chosen[c] = static_cast<int>(r == 1 ? lane : c);
    }
    all = r == 0 ? b.CreateShuffleVector(all, chosen) : b.CreateShuffleVector(all, rows[r], chosen);
  }
  return all;
}

// Null: all cells.
Value* of_rows(llvm::IRBuilderBase& b, const Interleaved& cells) {
  if (cells.rows == cells.distance) return nullptr;
  std::vector<llvm::Constant*> present;
  for (std::uint32_t c = 0; c < cells.lanes; ++c) present.push_back(b.getInt1(cells.row(c) < cells.rows));
  return llvm::ConstantVector::get(present);
}

}  // namespace

std::optional<std::int64_t> step_between_lanes(const EmitState& s, const Store::Target& target, std::uint32_t variable,
                                               std::uint32_t lanes) {
  std::int64_t step = 0;
  for (std::size_t axis = 0; axis < target.at.size(); ++axis) {
    const auto& of = target.at[axis].coefficients;
    const std::int64_t own = variable < of.size() ? of[variable] : 0;
    if (own == 0) continue;
    auto* stride = llvm::dyn_cast<llvm::ConstantInt>(s.strides[target.tensor][axis]);
    if (!stride || std::abs(own) > most_steps_between_lanes) return {};
    step += own * stride->getSExtValue();
  }
  const std::int64_t most = std::min<std::int64_t>(most_steps_between_lanes, lanes);
  return step == 0 || step == 1 || std::abs(step) > most ? std::nullopt : std::optional(step);
}

std::int64_t StraightCells::step_of(const ir::AffineExpr& at) const {
  return s_.lanes && s_.lanes->variable < at.coefficients.size() ? at.coefficients[s_.lanes->variable] : 0;
}

// The cells from one lane to the next, if they are few enough.
std::optional<std::int64_t> StraightCells::short_step(const Load& read) const {
  std::int64_t step = 0;
  bool checked = false;
  for (std::size_t axis = 0; axis < read.at.size(); ++axis) {
    const Coordinate& at = read.at[axis];
    if (at.data) return {};
    checked |= at.checked;
    const std::int64_t own = step_of(at.affine);
    if (own == 0) continue;
    auto* stride = llvm::dyn_cast<llvm::ConstantInt>(s_.strides[read.tensor][axis]);
    const bool last = axis + 1 == read.at.size() && stride && stride->isOne();
    if (!stride || (at.checked && !last) || std::abs(own) > most_steps_between_lanes) return {};
    step += own * stride->getSExtValue();
  }
  if (step == 0 || step == 1 || std::abs(step) > std::min<std::int64_t>(most_steps_between_lanes, s_.lanes->count))
    return {};
  const ElementType type = s_.kernel.tensors[read.tensor].type.element;
  auto& context = s_.b.getContext();
  if (checked && register_type(context, type) != memory_type(context, type)) return {};  // a fill has another form
  return step < 0 && (checked || s_.lanes->mask) ? std::nullopt : std::optional(step);
}

// Which cells the reads of a window need of a vector of all cells from `from` on: inside the tensor, and of active lanes. Null: all.
Value* StraightCells::needed(const Load& read, const Window& window, std::uint32_t from) {
  auto& b = s_.b;
  const std::uint32_t lanes = s_.lanes->count;
  Value* all = nullptr;
  auto require = [&](Value* more) { all = all ? b.CreateAnd(all, more) : more; };
  for (std::size_t axis = 0; axis < read.at.size(); ++axis) {
    if (!read.at[axis].checked) continue;
    const auto size = static_cast<std::uint64_t>(s_.kernel.tensors[read.tensor].type.shape[axis]);
    Value *first = s_.affine(read.at[axis].affine), *extent = b.getInt64(size);
    if (step_of(read.at[axis].affine) == 0) require(splat(b.CreateICmpULT(first, extent), lanes));
    else require(lanes_within(b, b.CreateNSWAdd(first, b.getInt64(from)), extent, lanes));
  }
  if (s_.lanes->mask) {
    Value* last = b.CreateNSWMul(b.CreateNSWSub(s_.lanes->active, b.getInt64(1)),
                                 b.getInt64(static_cast<std::uint64_t>(window.step)));
    Value* end = b.CreateNSWAdd(last, b.getInt64(1 + static_cast<std::uint64_t>(window.before + window.after)));
    require(s_.stores_under_masks ? lanes_before(b, b.getInt64(from), end, lanes)
                                  : compared_lanes_before(b, b.getInt64(from), end, lanes));
  }
  return all;
}

// Reads of the statement that begin fewer than `step` cells apart take their cells from the same vectors, which have as many cells as
// those of the first read alone would need. All are executed, so all cells of the window are in memory.
StraightCells::Window StraightCells::window_of(const Load& read, std::int64_t step) const {
  std::map<std::int64_t, const Load*> beside{{0, &read}};  // by their distance
  if (root_)
    for (CellId id : ir::reachable_from(s_.kernel.exprs, {*root_})) {
      const CellNode& node = s_.kernel.exprs[id];
      if (node.op != CellOp::read) continue;
      const Load& other = s_.kernel.loads[node.attribute];
      if (const auto distance = cells_between(s_, read, other)) beside.emplace(*distance, &other);
    }
  Window window{&read, step};
  std::int64_t first = beside.begin()->first;
  for (const auto& [distance, other] : beside) {
    if (distance - first >= std::abs(step)) {
      if (distance > 0) break;
      first = distance;
    }
    if (distance == first) window.first = other;
    window.before = -first;
    window.after = std::max<std::int64_t>(distance, 0);
  }
  return window;
}

// `fill`: what all cells outside the tensor have; null if none is outside.
std::vector<Value*> StraightCells::load_window(const Load& read, const Window& window, Value* fill) {
  auto& b = s_.b;
  const ElementType type = s_.kernel.tensors[read.tensor].type.element;
  llvm::Type* cell = memory_type(b.getContext(), type);
  const WindowVectors vectors = window.vectors(s_.lanes->count);
  auto* vector = llvm::FixedVectorType::get(cell, vectors.lanes);
  std::vector<ir::AffineExpr> affine;
  std::vector<Value*> coordinates(read.at.size(), nullptr);
  for (const Coordinate& c : read.at) affine.push_back(c.affine);
  keep_in_memory(read, coordinates);
  Value* otherwise = fill ? splat(fill, vectors.lanes) : llvm::Constant::getNullValue(vector);
  Value* address = place_of(read.tensor, affine, coordinates).address;
  const std::int64_t back = window.before + (window.step < 0 ? window.span(vectors.lanes) : 0);
  if (back != 0) address = b.CreateConstInBoundsGEP1_64(cell, address, -static_cast<std::uint64_t>(back));
  std::vector<Value*> parts;
  for (std::uint32_t k = 0; k < vectors.count; ++k) {
    const llvm::Align align(size_of(type));
    Value* at = b.CreateConstInBoundsGEP1_64(cell, address, vectors.from(k));
    Value* mask = needed(read, window, vectors.from(k));
    llvm::Instruction* made = nullptr;
    if (mask) made = b.CreateMaskedLoad(vector, at, align, mask, otherwise);
    else made = b.CreateAlignedLoad(vector, at, align);
    s_.mark_no_alias(*made, read.tensor);
    parts.push_back(made);
  }
  return parts;
}

Value* StraightCells::read_every(const Load& read, std::int64_t step, Value* fill) {
  const Window window = window_of(read, step);
  const std::uint32_t lanes = s_.lanes->count;
  std::vector<Value*>& parts = windows_[{window.first, window.before + window.after}];
  if (parts.empty()) parts = load_window(read, window, fill);
  const std::int64_t first = window.before + (step < 0 ? window.span(lanes) : 0);
  return from_memory(s_.b, shuffled(s_.b, parts, window.vectors(lanes), first, step),
                     s_.kernel.tensors[read.tensor].type.element);
}

// Whether a store needs no masks, or the target has them in registers.
bool StraightCells::can_store_every(std::int64_t step, std::size_t rows) const {
  const auto distance = static_cast<std::uint64_t>(std::abs(step));
  return rows <= distance && (s_.stores_under_masks || (!s_.lanes->mask && rows == distance));
}

// Rows whose cells are contiguous in memory. Pre: can_store_every().
void StraightCells::store_every(const Store::Target& target, std::int64_t step, const std::vector<Value*>& rows) {
  auto& b = s_.b;
  const ElementType type = s_.kernel.tensors[target.tensor].type.element;
  llvm::Type* cell = memory_type(b.getContext(), type);
  const std::uint32_t lanes = s_.lanes->count;
  const auto distance = static_cast<std::uint32_t>(std::abs(step));
  const auto count = static_cast<std::uint32_t>(rows.size());
  Value* first = place_of(target.tensor, target.at, {}).address;
  if (step < 0) first = b.CreateConstGEP1_64(cell, first, -static_cast<std::uint64_t>((lanes - 1) * distance));
  for (std::uint32_t k = 0; k < distance; ++k) {
    const Interleaved cells{k * lanes, lanes, distance, count, step < 0};
    Value* vector = interleave(b, rows, cells);
    Value* address = b.CreateConstGEP1_64(cell, first, cells.from);
    Value* mask = of_rows(b, cells);
    if (Value* active = s_.lanes->mask ? s_.lanes->active : nullptr) {
      if (step < 0) active = b.CreateNSWSub(b.getInt64(lanes), active);
      Value* edge = lanes_before(b, b.getInt64(cells.from), b.CreateNSWMul(active, b.getInt64(distance)), lanes);
      if (step < 0) edge = b.CreateNot(edge);
      mask = mask ? b.CreateAnd(mask, edge) : edge;
    }
    if (!mask) {
      store_vector(s_, vector, address, target.tensor);
      continue;
    }
    s_.mark_no_alias(*b.CreateMaskedStore(vector, address, llvm::Align(size_of(type)), mask), target.tensor);
  }
}

}  // namespace tap::backend
