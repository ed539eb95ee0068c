// Epilogues (epilogue.h): the cells that are stored for a completed point of a reduction, which read its result from
// registers.
#include <algorithm>
#include <bit>

#include "backend/lower/lowering.h"
#include "backend/tiles/point_work.h"
#include "ir/graph.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

bool Lowering::cannot_fail(const Program& program, const Operator& map) {
  Kernel kernel;
  OperatorInKernel frame = declare(kernel, map);
  Lowering lowering(program, map, kernel, std::move(frame), {});
  lowering.declare_loads();
  return lowering.are_speculatable(lowering.result_values());
}

void Lowering::end_with(std::vector<Ending> endings) {
  endings_ = std::move(endings);
  TAP_CHECK(endings_.empty() || op_.reduce(), "only a reduction can have an epilogue");
  if (endings_.empty() || op_.writes.size() != 1 || frame_.results[op_.writes[0].tensor] != no_tensor) return;
  const ElementType type = program_[op_.reduce()->monoid].components[0].type;
  for (std::size_t e = 0; e < endings_.size() && !keeper_; ++e) {
    const Operator& map = *endings_[e].op;
    for (std::size_t w = 0; w < map.writes.size() && !keeper_; ++w) {
      const std::uint32_t result = map.writes[w].tensor;
      if (endings_[e].frame.results[result] == no_tensor || map.results[result].element != type) continue;
      if (map.writes[w].invariant_dims.empty()) keeper_ = {e, w};
    }
  }
}

// Whether accumulators can be stored and reloaded exactly.
bool Lowering::can_keep() const {
  if (keeper_) return true;
  if (!op_.reduce()) return false;
  const Monoid& monoid = program_[op_.reduce()->monoid];
  for (std::size_t c = 0; c < monoid.components.size(); ++c) {
    const Access& write = op_.writes[c];
    if (frame_.results[write.tensor] == no_tensor || !write.invariant_dims.empty()) return false;
    if (op_.results[write.tensor].element != monoid.components[c].type) return false;
  }
  return true;
}

Store Lowering::kept(const std::vector<CellId>& values) const {
  if (!keeper_) return store(values);
  const Ending& ending = endings_[keeper_->first];
  const Lowering map(program_, *ending.op, kernel_, ending.frame, machine_);
  Store all = map.store(std::vector<CellId>(ending.op->writes.size(), values[0]));
  return {{std::move(all.targets[keeper_->second])}};
}

// A value is rounded as if it were stored. The conversion stays even if it changes nothing, so that `acc + a*b` in a
// map rounds as often as elsewhere.
Store Lowering::completed(const std::vector<CellId>& values) {
  Store result = store(values);
  std::vector<CellId> registers;
  auto keep = [&](const Operator& op, const std::vector<CellId>& cells) {
    const std::size_t first = registers.size();
    registers.resize(first + op.results.size());
    for (std::size_t w = 0; w < op.writes.size(); ++w) {
      const std::uint32_t r = op.writes[w].tensor;
      registers[first + r] = kernel_.exprs.apply(CellOp::cast, op.results[r].element, {cells[w]});
    }
  };
  if (!endings_.empty()) keep(op_, values);
  for (const Ending& ending : endings_) {
    Lowering map(program_, *ending.op, kernel_, ending.frame, machine_);
    for (const auto& number : ending.registers)
      map.given_.push_back(number ? std::optional(registers[*number]) : std::nullopt);
    map.declare_loads();
    const std::vector<CellId> cells = map.result_values();
    for (Store::Target& target : map.store(cells).targets) result.targets.push_back(std::move(target));
    keep(*ending.op, cells);
  }
  std::erase_if(result.targets, [](const Store::Target& target) { return target.tensor == no_tensor; });
  return result;
}

// After the last block of the reduction, its points are complete.
std::vector<Statement> Lowering::end_tile(const RegisterTile& tile, const Part* rows, const Part& lanes,
                                          const State& state, const Block* chunk, std::size_t chunked) {
  auto all = store_across(tile, rows, lanes, completed(state.values));
  if (!chunk || endings_.empty()) return all;
  AffineExpr left = plus(variable(frame_.hi[chunked]), variable(chunk->end), -1);
  Guard last{{{left, Comparison::equal_zero}}, {}, std::move(all)};
  Guard earlier{
      {{plus(left, number(-1)), Comparison::at_least_zero}}, {}, store_across(tile, rows, lanes, kept(state.values))};
  return {{std::move(last)}, {std::move(earlier)}};
}

// Lanes along a reduction leave one value for each row. Maps that cost more than to store it and to load it again run with the rows
// in lanes.
bool Lowering::ends_with_rows_in_lanes(const RegisterTile& tile, const Part& rows) const {
  constexpr std::uint32_t fewest_rows = 4;
  constexpr double least_work = 8;  // a division, its operand and its result
  if (rows.count < fewest_rows) return false;
  double work = 0;
  for (const Ending& ending : endings_) {
    for (std::size_t w = 0; w < ending.op->writes.size(); ++w) {
      if (ending.frame.results[ending.op->writes[w].tensor] == no_tensor) continue;
      const Lowering map(program_, *ending.op, kernel_, ending.frame, machine_);
      std::vector<AffineExpr> at;
      for (const AffineExpr& row : ending.op->writes[w].projection.start.rows) at.push_back(map.over_variables(row));
      if (!is_contiguous_along(at, frame_.at[*tile.rows])) return false;
    }
    work += instructions_of_point(*ending.op);
  }
  return work >= least_work;
}

std::vector<Statement> Lowering::end_rows_in_lanes(const RegisterTile& tile, const Part& rows,
                                                   std::vector<Statement> finish, const std::vector<CellId>& values) {
  const Monoid& monoid = program_[op_.reduce()->monoid];
  const AffineExpr first = variable(rows.loop.variable), row = variable(frame_.at[*tile.rows]);
  const AffineExpr place = plus(row, first, -1);
  Store keep;
  std::vector<CellId> kept;
  for (std::size_t c = 0; c < values.size(); ++c) {
    const ElementType type = monoid.components[c].type;
    TensorArgument memory{
        "rows" + std::to_string(kernel_.tensors.size()), {type, {rows.count}}, Local{{rows.count}, {number(0)}}};
    const auto tensor = static_cast<std::uint32_t>(kernel_.tensors.size());
    kernel_.tensors.push_back(std::move(memory));
    keep.targets.push_back({tensor, {place}, values[c]});
    kernel_.loads.push_back({tensor, {{place, {}, false}}, {}, true});
    kept.push_back(kernel_.exprs.read(static_cast<std::uint32_t>(kernel_.loads.size() - 1), type));
  }
  finish.push_back({std::move(keep)});
  std::vector<Statement> result = over_rows(tile, &rows, std::move(finish));
  const std::uint32_t most = static_cast<std::uint32_t>(full_vector_bytes / size_of(monoid.components[0].type));
  const std::uint32_t lanes = std::min(most, std::bit_ceil(rows.count));
  Part part;
  part.loop.variable = new_variable(op_.dims[*tile.rows].name + "0");
  part.loop.lower = {bound(first)};
  part.loop.upper = {bound(plus(first, number(rows.count)))};
  part.loop.step = lanes;
  part.whole = rows.count % lanes == 0;
  RegisterTile across_rows{.dim = *tile.rows, .lanes = lanes};
  part.loop.body = across(across_rows, nullptr, &part, {{completed(kept)}});
  result.push_back({std::move(part.loop)});
  return result;
}

}  // namespace tap::backend
