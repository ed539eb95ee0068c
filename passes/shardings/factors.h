// Factors: the relation between an operator's index dims and the axes of its tensors. Axes with the same factor are
// sharded alike. Factors follow from the projections alone.
//
//   y[i, o] = sum[k] x[i, k] * w[k, o]     ([i, k], [k, o])->([i, o]) reduction={k}
//   y[4*i + j] = x[i, j]                   ([i, j])->([i j])             one axis of two factors, major to minor
//   y[i] = x[n - 1 - i]                    ([i])->([i]) permutation={i}  the cells of a block change position
//   y[n] = t[ids[n]]                       ([#t0], [n])->([n]) replicated={#t0}
//
// So propagation, validity and inference need no rule for any operator.
#pragma once

#include "ir/operator.h"

namespace tap::passes {

enum class FactorKind : std::uint8_t {
  pass_through,      // each block reads and writes the block of the same number
  reduction,         // blocks give partials
  need_replication,  // a reader of one cell needs the whole axis, or an unknown part of it
  permutation,       // a block reads or writes cells of another block: reversed, shifted, strided, windows
};

struct Factor {
  std::string name;
  std::int64_t size = 1;
  FactorKind kind = FactorKind::pass_through;
  std::optional<std::uint32_t> dim = {};  // the index dim; none: a factor of one axis alone
  bool kept = false;                      // the dim must not be split
  bool moves = false;  // somewhere a block reads or writes cells of another block: reversed, shifted, …
  bool operator==(const Factor&) const = default;
};

// One access to a tensor, axis by axis: the factors, major to minor, and the window: each block also reads from
// `before` below its own cells to `after` above them.
struct AxisFactors {
  std::vector<std::uint32_t> factors;
  std::int64_t before = 0, after = 0;
  bool operator==(const AxisFactors&) const = default;
};
struct TensorFactors {
  std::uint32_t tensor = 0;  // number of the operand or result
  std::vector<AxisFactors> axes;
  bool operator==(const TensorFactors&) const = default;
};

struct Factors {
  std::vector<Factor> factors;
  std::vector<TensorFactors> operands;  // a tensor with two different accesses has two entries
  std::vector<TensorFactors> results;
  bool operator==(const Factors&) const = default;
};

Factors factors_of(const ir::Operator& op);

// ([i, j k], [j])->([i, k]) {i=2, j=3, k=4} reduction={j} halo={x0[i]: 1..1}
std::string to_string(const Factors& factors);

// Whether sharding it needs cells of other blocks: conservative propagation skips such factors.
inline bool moves_cells(const Factor& factor) { return factor.moves || factor.kind == FactorKind::need_replication; }
// Whether the tensor has this factor.
bool has_factor(const TensorFactors& tensor, std::uint32_t factor);
// A map in which every operand except scalars and copies has all factors of the results, and all are passed through:
// the result for a cell does not depend on the cell's position.
bool moves_no_data(const ir::Operator& op, const Factors& factors);
// Whether an operand of a map lacks a factor of a result: it is repeated along that factor.
bool is_broadcast(const Factors& factors, std::size_t operand);

}  // namespace tap::passes
