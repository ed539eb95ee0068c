// Cells in straight-line code, under unrolled loops and lanes: a cell that depends on the lanes is a vector, any
// other a scalar. There are no branches: both sides of an `if` are computed, and reads are masked.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "backend/llvm/emit_state.h"

namespace tap::backend {

// Whole vectors that cover all cells of a window, the last one up to its end: it may overlap the one before.
struct WindowVectors {
  std::uint32_t cells = 0, lanes = 0, count = 0;

  std::uint32_t from(std::uint32_t k) const { return std::min(k * lanes, cells - lanes); }
};

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
  llvm::Value* evaluated(ir::CellId id);
  llvm::Value* compute(ir::CellId id);
  llvm::Value* strict(const ir::CellNode& node);
  llvm::Value* fused(const ir::CellNode& node);
  llvm::Value* select(const ir::CellNode& node);
  llvm::Value* read(const Load& load);
  llvm::Value* load(const Addresses& location, ElementType type, std::uint32_t lanes, llvm::Value* mask,
                    llvm::Value* otherwise);
  // What reads load together whose lanes are a few cells apart: all cells from the first that one of them needs to the last.
  struct Window {
    const Load* first = nullptr;
    std::int64_t step = 0;               // from one lane to the next
    std::int64_t before = 0, after = 0;  // cells beside those of the read

    std::int64_t span(std::uint32_t lanes) const { return (lanes - 1) * std::abs(step); }
    WindowVectors vectors(std::uint32_t lanes) const {
      return {static_cast<std::uint32_t>(span(lanes) + 1 + before + after), lanes,
              static_cast<std::uint32_t>(std::abs(step))};
    }
  };
  std::optional<std::int64_t> short_step(const Load& load) const;  // emit_every.cpp, as those up to read_every
  std::int64_t step_of(const ir::AffineExpr& at) const;            // from one lane to the next
  llvm::Value* needed(const Load& load, const Window& window, std::uint32_t from);
  Window window_of(const Load& load, std::int64_t step) const;
  std::vector<llvm::Value*> load_window(const Load& load, const Window& window, llvm::Value* fill);
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
  std::optional<ir::CellId> root_;  // the cell whose operands are being evaluated
  std::map<std::pair<const Load*, std::int64_t>, std::vector<llvm::Value*>>
      windows_;  // by first read and cells beside it
};

std::uint32_t lanes_of(const llvm::Value* value);  // 1 for a scalar

}  // namespace tap::backend
