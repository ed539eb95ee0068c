// Lanes whose cells are a few apart, or in reverse order: whole vectors are loaded, of which shuffles take the cells.
//
//   x[2*j] of 16 lanes      loads 16 cells from x[2*j0] on, and 16 from x[2*j0 + 15] on: a shuffle takes 0, 2, … of both
//
// A gather takes an access for each lane. No cell before the first or after the last one is read. Stores are the inverse: shuffles place
// the cells of all rows of an unrolled loop, and masks leave out those between them.
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "backend/llvm/emit_every.h"
#include "backend/llvm/emit_non_temporal.h"
#include "backend/llvm/emit_straight.h"
#include "backend/llvm/lane_masks.h"
#include "backend/loops/lanes_apart.h"

namespace tap::backend {

using llvm::Value;

namespace {

// A vector of all cells from `from` on, counted from the address.
using LoadCells = std::function<Value*(Value* address, std::uint32_t from)>;

// Pre: 1 <= |step| <= lanes. With a negative step lane 0 is the last in memory.
Value* shuffled(llvm::IRBuilderBase& b, std::int64_t step, Value* address, llvm::Type* cell, std::uint32_t lanes,
                const LoadCells& load) {
  const auto distance = static_cast<std::uint32_t>(std::abs(step));
  const std::uint32_t span = (lanes - 1) * distance;  // between the first cell and the last
  if (step < 0) address = b.CreateConstInBoundsGEP1_64(cell, address, -static_cast<std::uint64_t>(span));
  Value* all = nullptr;
  for (std::uint32_t k = 0; k < distance; ++k) {
    const std::uint32_t from = std::min(k * lanes, span + 1 - lanes);
    Value* part = load(b.CreateConstInBoundsGEP1_64(cell, address, from), from);
    std::vector<int> chosen;  // lanes of `all`, then of `part`
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t at = step < 0 ? span - lane * distance : lane * distance;
      const bool is_new = at >= k * lanes && at < from + lanes;
      if (k == 0) chosen.push_back(is_new ? static_cast<int>(at) : 0);
      else chosen.push_back(static_cast<int>(is_new ? lanes + at - from : lane));
    }
    all = k == 0 ? b.CreateShuffleVector(part, chosen) : b.CreateShuffleVector(all, part, chosen);
  }
  return all;
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

// Which cells a read needs of a vector of all cells from `from` on: inside the tensor, and of active lanes. Null: all.
Value* StraightCells::needed(const Load& read, std::int64_t step, std::uint32_t from) {
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
    Value* last =
        b.CreateNSWMul(b.CreateNSWSub(s_.lanes->active, b.getInt64(1)), b.getInt64(static_cast<std::uint64_t>(step)));
    Value* end = b.CreateNSWAdd(last, b.getInt64(1));
    require(s_.stores_under_masks ? lanes_before(b, b.getInt64(from), end, lanes)
                                  : compared_lanes_before(b, b.getInt64(from), end, lanes));
  }
  return all;
}

// `fill`: what all cells outside the tensor have; null if none is outside.
Value* StraightCells::read_every(const Load& read, std::int64_t step, Value* fill) {
  auto& b = s_.b;
  const ElementType type = s_.kernel.tensors[read.tensor].type.element;
  llvm::Type* cell = memory_type(b.getContext(), type);
  auto* vector = llvm::FixedVectorType::get(cell, s_.lanes->count);
  std::vector<ir::AffineExpr> affine;
  std::vector<Value*> coordinates(read.at.size(), nullptr);
  for (const Coordinate& c : read.at) affine.push_back(c.affine);
  keep_in_memory(read, coordinates);
  Value* otherwise = fill ? splat(fill, s_.lanes->count) : llvm::Constant::getNullValue(vector);
  auto load = [&](Value* address, std::uint32_t from) -> Value* {
    const llvm::Align align(size_of(type));
    Value* mask = needed(read, step, from);
    llvm::Instruction* made = nullptr;
    if (mask) made = b.CreateMaskedLoad(vector, address, align, mask, otherwise);
    else made = b.CreateAlignedLoad(vector, address, align);
    s_.mark_no_alias(*made, read.tensor);
    return made;
  };
  Value* address = place_of(read.tensor, affine, coordinates).address;
  return from_memory(b, shuffled(b, step, address, cell, s_.lanes->count, load), type);
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
