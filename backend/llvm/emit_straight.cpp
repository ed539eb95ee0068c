#include "backend/llvm/emit_straight.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <numeric>

#include "backend/llvm/emit_every.h"
#include "backend/llvm/emit_leading.h"
#include "backend/llvm/emit_non_temporal.h"
#include "backend/llvm/emit_transposed.h"
#include "backend/llvm/lane_masks.h"
#include "support/check.h"

namespace tap::backend {

using ir::CellId;
using ir::CellNode;
using ir::CellOp;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

llvm::Type* vector_of(llvm::Type* type, std::uint32_t lanes) {
  return lanes == 1 ? type : llvm::FixedVectorType::get(type, lanes);
}

bool is_one(const Value* value) {
  auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number && number->isOne();
}

}  // namespace

std::uint32_t lanes_of(const Value* value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type ? type->getNumElements() : 1;
}

Value* StraightCells::splat(Value* value, std::uint32_t lanes) {
  return lanes == 1 || lanes_of(value) > 1 ? value : s_.b.CreateVectorSplat(lanes, value);
}

void StraightCells::make_alike(std::vector<Value*>& values) {
  std::uint32_t lanes = 1;
  for (const Value* v : values) lanes = std::max(lanes, lanes_of(v));
  for (Value*& v : values) v = splat(v, lanes);
}

Value* StraightCells::lane_numbers(std::uint32_t lanes) {
  std::vector<llvm::Constant*> numbers;
  for (std::uint32_t k = 0; k < lanes; ++k) numbers.push_back(s_.b.getInt64(k));
  return llvm::ConstantVector::get(numbers);
}

// The dependences of the cell, computed once per kernel.
const CellFacts& StraightCells::facts(CellId id) {
  if (s_.facts[id.index()]) return *s_.facts[id.index()];
  CellFacts found;
  const CellNode& node = s_.kernel.exprs[id];
  auto add_affine = [&](const ir::AffineExpr& e) {
    for (std::uint32_t v = 0; v < e.coefficients.size(); ++v)
      if (e.coefficients[v] != 0) found.variables.insert(v);
  };
  auto add_cell = [&](CellId other) {
    const CellFacts& its = facts(other);
    found.variables.insert(its.variables.begin(), its.variables.end());
    found.accumulates = found.accumulates || its.accumulates;
  };
  if (node.op == CellOp::index) found.variables.insert(node.attribute);
  if (node.op == CellOp::argument) found.accumulates = true;
  for (CellId arg : node.args) add_cell(arg);
  if (node.op == CellOp::read) {
    const Load& load = s_.kernel.loads[node.attribute];
    for (const Coordinate& c : load.at) c.data ? add_cell(*c.data) : add_affine(c.affine);
    if (load.fill) add_cell(*load.fill);
    if (const auto& local = s_.kernel.tensors[load.tensor].local)
      for (const auto& e : local->origin) add_affine(e);
  }
  return *(s_.facts[id.index()] = std::move(found));
}

Value* StraightCells::operator()(CellId id) {
  if (auto it = computed_.find(id); it != computed_.end()) return it->second;
  const bool outermost = !root_;
  if (outermost) root_ = id;
  Value* value = evaluated(id);
  if (outermost) root_.reset();
  return value;
}

Value* StraightCells::evaluated(CellId id) {
  const CellFacts& its = facts(id);
  if (its.accumulates) return computed_[id] = compute(id);
  std::pair<CellId, std::vector<std::int64_t>> key{id, {}};
  for (std::uint32_t v : its.variables) key.second.push_back(s_.versions[v]);
  if (auto it = s_.known.find(key); it != s_.known.end()) return it->second;
  Value* value = compute(id);
  return s_.known[std::move(key)] = value;
}

Value* StraightCells::compute(CellId id) {
  const CellNode& node = s_.kernel.exprs[id];
  auto& b = s_.b;
  switch (node.op) {
    case CellOp::constant: return emit_constant(b.getContext(), node.value);
    case CellOp::index: {
      Value* first = s_.variables[node.attribute];
      TAP_CHECK(first, "a variable is used outside its loop");
      if (!s_.lanes || s_.lanes->variable != node.attribute) return first;
      return b.CreateNSWAdd(splat(first, s_.lanes->count), lane_numbers(s_.lanes->count));
    }
    case CellOp::argument: {
      if (auto it = slots_.find(node.attribute); it != slots_.end()) return it->second;
      std::uint32_t lanes = s_.kernel.accumulators[s_.kernel.slots[node.attribute].accumulator].lanes;
      return b.CreateLoad(vector_of(register_type(b.getContext(), node.type), lanes), s_.slot(node.attribute));
    }
    case CellOp::read: return read(s_.kernel.loads[node.attribute]);
    case CellOp::select: return select(node);
    case CellOp::logical_and:
    case CellOp::logical_or: {
      std::vector<Value*> args{(*this)(node.args[0]), (*this)(node.args[1])};
      make_alike(args);
      return node.op == CellOp::logical_and ? b.CreateAnd(args[0], args[1]) : b.CreateOr(args[0], args[1]);
    }
    case CellOp::cast: return emit_cast(b, (*this)(node.args[0]), s_.kernel.exprs[node.args[0]].type, node.type);
    default: return strict(node);
  }
}

Value* StraightCells::strict(const CellNode& node) {
  if (Value* value = fused(node)) return value;
  std::vector<Value*> args;
  for (CellId arg : node.args) args.push_back((*this)(arg));
  make_alike(args);
  return emit_operation(s_.b, node.op, s_.kernel.exprs[node.args[0]].type, args,
                        [](Value*, KernelFailure, Value*) { TAP_UNREACHABLE("straight code cannot fail"); });
}

// acc + a*b  rounds once
Value* StraightCells::fused(const CellNode& node) {
  auto product = fused_product(s_.kernel, node);
  if (!product) return nullptr;
  const CellNode& times = s_.kernel.exprs[product->product];
  std::vector<Value*> args{(*this)(times.args[0]), (*this)(times.args[1]), (*this)(product->accumulator)};
  make_alike(args);
  return s_.b.CreateIntrinsic(Intrinsic::fma, {args[0]->getType()}, args);
}

Value* StraightCells::select(const CellNode& node) {
  Value* condition = (*this)(node.args[0]);
  std::vector<Value*> sides{(*this)(node.args[1]), (*this)(node.args[2])};
  std::uint32_t lanes = std::max({lanes_of(condition), lanes_of(sides[0]), lanes_of(sides[1])});
  for (Value*& side : sides) side = splat(side, lanes);
  return s_.b.CreateSelect(condition, sides[0], sides[1]);
}

// The addresses of an access: each axis has a data-dependent or an affine coordinate.
StraightCells::Addresses StraightCells::place_of(std::uint32_t tensor, const std::vector<ir::AffineExpr>& affine,
                                                 const std::vector<Value*>& data) {
  auto& b = s_.b;
  Addresses location;
  std::vector<Value*> scalars;
  for (std::size_t axis = 0; axis < affine.size(); ++axis) {
    Value* stride = s_.strides[tensor][axis];
    Value* data_offset = axis < data.size() ? data[axis] : nullptr;
    if (data_offset && lanes_of(data_offset) > 1) {
      location.offsets.push_back(b.CreateNSWMul(data_offset, splat(stride, lanes_of(data_offset))));
      scalars.push_back(s_.origin(tensor, axis));  // subtracted again
      continue;
    }
    scalars.push_back(data_offset ? data_offset : s_.affine(affine[axis]));
    if (data_offset || step_of(affine[axis]) == 0) continue;
    Value* step = b.CreateNSWMul(b.getInt64(step_of(affine[axis])), stride);
    location.step = location.step ? b.CreateNSWAdd(location.step, step) : step;
  }
  location.address = s_.address(tensor, scalars);
  location.dense = location.step && location.offsets.empty() && is_one(location.step);
  return location;
}

Value* StraightCells::addresses(const Addresses& location, ElementType type) {
  auto& b = s_.b;
  std::uint32_t lanes = s_.lanes ? s_.lanes->count : 1;
  for (const Value* v : location.offsets) lanes = std::max(lanes, lanes_of(v));
  Value* offsets = nullptr;
  if (location.step) offsets = b.CreateNSWMul(splat(location.step, lanes), lane_numbers(lanes));
  for (Value* v : location.offsets) offsets = offsets ? b.CreateNSWAdd(offsets, v) : v;
  return b.CreateGEP(memory_type(b.getContext(), type), location.address, offsets);
}

// Whether an axis's coordinate is in bounds: per lane, or for all lanes.
Value* StraightCells::within(const ir::AffineExpr& at, Value* data, std::int64_t size) {
  auto& b = s_.b;
  Value* extent = b.getInt64(static_cast<std::uint64_t>(size));
  // Unsigned: tests both ends.
  if (data) return b.CreateICmpULT(data, splat(extent, lanes_of(data)));
  Value* first = s_.affine(at);
  const std::int64_t step = step_of(at);
  if (step == 0) return b.CreateICmpULT(first, extent);
  std::uint32_t lanes = s_.lanes->count;
  if (step == 1) return lanes_within(b, first, extent, lanes);
  Value* each = b.CreateNSWMul(splat(b.getInt64(static_cast<std::uint64_t>(step)), lanes), lane_numbers(lanes));
  return b.CreateICmpULT(b.CreateNSWAdd(splat(first, lanes), each), splat(extent, lanes));
}

// Null if nothing must be tested.
Value* StraightCells::within(const Load& load, const std::vector<Value*>& data) {
  Value* result = nullptr;
  for (std::size_t axis = 0; axis < load.at.size(); ++axis) {
    if (!load.at[axis].checked) continue;
    std::vector<Value*> both{within(load.at[axis].affine, data[axis], s_.kernel.tensors[load.tensor].type.shape[axis])};
    if (result) both.push_back(result);
    make_alike(both);
    result = both.size() == 1 ? both[0] : s_.b.CreateAnd(both[0], both[1]);
  }
  return result;
}

// A row outside the tensor is not read, but a masked load where there is no page takes a thousand cycles: its address is that of
// the next row inside.
void StraightCells::keep_in_memory(const Load& load, std::vector<Value*>& coordinates) {
  auto& b = s_.b;
  for (std::size_t axis = 0; axis < load.at.size(); ++axis) {
    const ir::AffineExpr& at = load.at[axis].affine;
    if (!load.at[axis].checked || coordinates[axis] || step_of(at) != 0) continue;
    const std::int64_t last = s_.kernel.tensors[load.tensor].type.shape[axis] - 1;
    Value* from_zero = b.CreateBinaryIntrinsic(Intrinsic::smax, s_.affine(at), b.getInt64(0));
    coordinates[axis] =
        b.CreateBinaryIntrinsic(Intrinsic::smin, from_zero, b.getInt64(static_cast<std::uint64_t>(last)));
  }
}

// Inactive lanes get `otherwise`, which may be null.
Value* StraightCells::load(const Addresses& location, ElementType type, std::uint32_t lanes, Value* mask,
                           Value* otherwise) {
  auto& b = s_.b;
  llvm::Type* memory = vector_of(memory_type(b.getContext(), type), lanes);
  llvm::Align align(size_of(type));
  bool dense = location.offsets.empty() && (!location.step || location.dense);
  if (dense && !mask) return b.CreateAlignedLoad(memory, location.address, align);
  llvm::Type* vector = lanes == 1 ? llvm::FixedVectorType::get(memory, 1) : memory;
  if (!otherwise) otherwise = llvm::Constant::getNullValue(vector);
  if (!dense) {
    Value* all = addresses(location, type);
    return b.CreateMaskedGather(vector, all, align, mask ? mask : splat(b.getTrue(), lanes), otherwise);
  }
  if (lanes > 1) return b.CreateMaskedLoad(vector, location.address, align, mask, otherwise);
  Value* one = b.CreateMaskedLoad(vector, location.address, align, b.CreateVectorSplat(1, mask),
                                  otherwise->getType() == vector ? otherwise : b.CreateVectorSplat(1, otherwise));
  return b.CreateExtractElement(one, std::uint64_t{0});
}

Value* StraightCells::read(const Load& read) {
  if (const auto step = short_step(read)) {
    Value* fill = std::ranges::any_of(read.at, &Coordinate::checked) ? (*this)(*read.fill) : nullptr;
    if (!fill || lanes_of(fill) == 1) return read_every(read, *step, fill);
  }
  auto& b = s_.b;
  ElementType type = s_.kernel.tensors[read.tensor].type.element;
  std::vector<Value*> data;
  std::vector<ir::AffineExpr> affine;
  for (const Coordinate& c : read.at) {
    affine.push_back(c.affine);
    data.push_back(nullptr);
    if (c.data) data.back() = emit_cast(b, (*this)(*c.data), s_.kernel.exprs[*c.data].type, ElementType::i64);
  }
  Value* inside = within(read, data);
  Value* fill = inside ? (*this)(*read.fill) : nullptr;
  keep_in_memory(read, data);
  Addresses location = place_of(read.tensor, affine, data);
  bool varies = location.step || !location.offsets.empty() || (inside && lanes_of(inside) > 1);
  std::uint32_t lanes = varies ? s_.lanes->count : 1;
  Value* mask = varies ? s_.lanes->mask : nullptr;
  // There is memory beyond (scratch_bytes), and a mask would take a register.
  if (s_.kernel.tensors[read.tensor].local && !s_.stores_under_masks && location.dense && location.offsets.empty())
    mask = nullptr;
  if (inside) mask = mask ? b.CreateAnd(mask, splat(inside, lanes)) : splat(inside, lanes);
  // A fill with the same form in memory and in registers is part of the load.
  bool at_once = fill && lanes_of(fill) <= lanes &&
                 register_type(b.getContext(), type) == memory_type(b.getContext(), type);
  Value* raw = load(location, type, lanes, mask, at_once ? splat(fill, lanes) : nullptr);
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(raw)) s_.mark_no_alias(*instruction, read.tensor);
  Value* value = from_memory(b, raw, type);
  if (!inside || at_once) return value;
  std::vector<Value*> sides{value, fill};
  std::uint32_t wide = std::max({lanes_of(inside), lanes_of(sides[0]), lanes_of(sides[1])});
  for (Value*& side : sides) side = splat(side, wide);
  return b.CreateSelect(inside, sides[0], sides[1]);
}

void StraightCells::store(const Store::Target& target, Value* value) {
  auto& b = s_.b;
  ElementType type = s_.kernel.tensors[target.tensor].type.element;
  Addresses location = place_of(target.tensor, target.at, {});
  llvm::Align align(size_of(type));
  llvm::Instruction* stored = nullptr;
  if (!location.step) {  // a result that does not depend on the lanes has one value
    if (lanes_of(value) > 1) value = b.CreateExtractElement(value, std::uint64_t{0});
    Value* raw = to_memory(b, value, type);
    if (!s_.lanes || !s_.lanes->mask) {
      stored = b.CreateAlignedStore(raw, location.address, align);
    } else {  // a vector that is completely past the end is not stored
      Value* any = b.CreateExtractElement(s_.lanes->mask, std::uint64_t{0});
      stored = b.CreateMaskedStore(b.CreateVectorSplat(1, raw), location.address, align, b.CreateVectorSplat(1, any));
    }
  } else {
    Value* raw = to_memory(b, splat(value, s_.lanes->count), type);
    Value* mask = s_.lanes->mask;
    const auto step = location.dense ? std::nullopt
                                     : step_between_lanes(s_, target, s_.lanes->variable, s_.lanes->count);
    if (step && can_store_every(*step, 1)) return store_every(target, *step, {raw});
    if (!location.dense) {
      stored = b.CreateMaskedScatter(raw, addresses(location, type), align, mask);
    } else if (mask && !s_.stores_under_masks) {
      return store_leading(s_, raw, location.address, s_.lanes->active, target.tensor);
    } else if (mask) {
      stored = b.CreateMaskedStore(raw, location.address, align, mask);
    } else {
      return store_vector(s_, raw, location.address, target.tensor);
    }
  }
  s_.mark_no_alias(*stored, target.tensor);
}

Value* StraightCells::in_memory(const Store::Target& target, Value* value) {
  return to_memory(s_.b, splat(value, s_.lanes->count), s_.kernel.tensors[target.tensor].type.element);
}

// Lane by lane, under a mask with one bit per row.
void StraightCells::store_across(const Store::Target& target, const std::vector<Value*>& rows) {
  auto& b = s_.b;
  const ElementType type = s_.kernel.tensors[target.tensor].type.element;
  const Addresses location = place_of(target.tensor, target.at, {});
  const std::uint32_t lanes = s_.lanes->count;
  std::vector<Value*> columns = rows;
  columns.resize(lanes, llvm::PoisonValue::get(rows[0]->getType()));
  transpose(b, columns);
  std::vector<llvm::Constant*> used_rows;
  for (std::uint32_t k = 0; k < lanes; ++k) used_rows.push_back(b.getInt1(k < rows.size()));
  auto store_lane = [&](std::uint32_t lane) {
    Value* address = b.CreateGEP(memory_type(b.getContext(), type), location.address,
                                 b.CreateNSWMul(location.step, b.getInt64(lane)));
    if (!s_.stores_under_masks)
      return store_leading(s_, columns[lane], address, static_cast<std::uint32_t>(rows.size()), target.tensor);
    auto* stored =
        b.CreateMaskedStore(columns[lane], address, llvm::Align(size_of(type)), llvm::ConstantVector::get(used_rows));
    s_.mark_no_alias(*stored, target.tensor);
  };
  // Inactive lanes are skipped: a store of no cells beyond the tensor, where there may be no page, takes hundreds of cycles.
  llvm::BasicBlock* done = s_.lanes->mask ? s_.new_block("stored") : nullptr;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (done) {
      llvm::BasicBlock* active = s_.new_block("active");
      b.CreateCondBr(b.CreateExtractElement(s_.lanes->mask, lane), active, done);
      b.SetInsertPoint(active);
    }
    store_lane(lane);
  }
  if (!done) return;
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

}  // namespace tap::backend
