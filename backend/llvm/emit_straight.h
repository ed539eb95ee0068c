// Cells in straight-line code, under unrolled loops and lanes: a cell that depends on the lanes is a vector, any
// other a scalar. There are no branches: both sides of an `if` are computed, and reads are masked.
#pragma once

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// Evaluates the cells of one statement, each once. Pre: they are harmless (cell_placement.h).
class StraightCells {
 public:
  explicit StraightCells(EmitState& state) : s_(state) {}
  // Takes these slots' values from the map instead of the accumulators.
  StraightCells(EmitState& state, std::map<std::uint32_t, llvm::Value*> slots) : s_(state), slots_(std::move(slots)) {}
  llvm::Value* operator()(ir::CellId id);
  llvm::Value* splat(llvm::Value* value, std::uint32_t lanes);
  // under the lane mask
  void store(const Store::Target& target, llvm::Value* value);
  // Stores `rows` as consecutive vectors in the target's last axis; the target is the first one's.
  void store_across(const Store::Target& target, const std::vector<llvm::Value*>& rows);
  // The same where the lanes are `step` cells apart, at least as many as there are rows (emit_every.cpp).
  void store_every(const Store::Target& target, std::int64_t step, const std::vector<llvm::Value*>& rows);
  bool can_store_every(std::int64_t step, std::size_t rows) const;
  llvm::Value* in_memory(const Store::Target& target, llvm::Value* value);

 private:
  struct Addresses {
    llvm::Value* address = nullptr;          // of the first lane
    llvm::Value* step = nullptr;             // in elements, between lanes; null: all lanes have the same address
    std::vector<llvm::Value*> offsets = {};  // data-dependent offsets, in elements, to add
    bool dense = false;                      // the step is 1
  };
  llvm::Value* compute(ir::CellId id);
  llvm::Value* strict(const ir::CellNode& node);
  llvm::Value* fused(const ir::CellNode& node);
  llvm::Value* select(const ir::CellNode& node);
  llvm::Value* read(const Load& load);
  llvm::Value* load(const Addresses& location, ElementType type, std::uint32_t lanes, llvm::Value* mask,
                    llvm::Value* otherwise);
  std::optional<std::int64_t> short_step(const Load& load) const;  // emit_every.cpp, as the next three
  std::int64_t step_of(const ir::AffineExpr& at) const;            // from one lane to the next
  llvm::Value* needed(const Load& load, std::int64_t step, std::uint32_t from);
  llvm::Value* read_every(const Load& load, std::int64_t step, llvm::Value* fill);
  llvm::Value* addresses(const Addresses& location, ElementType type);
  Addresses place_of(std::uint32_t tensor, const std::vector<ir::AffineExpr>& affine,
                     const std::vector<llvm::Value*>& data);
  llvm::Value* lane_numbers(std::uint32_t lanes);
  llvm::Value* within(const ir::AffineExpr& at, llvm::Value* data, std::int64_t size);
  llvm::Value* within(const Load& load, const std::vector<llvm::Value*>& data);
  void keep_in_memory(const Load& load, std::vector<llvm::Value*>& coordinates);
  const CellFacts& facts(ir::CellId id);
  void make_alike(std::vector<llvm::Value*>& values);

  EmitState& s_;
  std::map<std::uint32_t, llvm::Value*> slots_;
  std::map<ir::CellId, llvm::Value*> computed_;
};

std::uint32_t lanes_of(const llvm::Value* value);  // 1 for a scalar

}  // namespace tap::backend
