// One operator written in another way: dims, operands, reads, constraints and commuting arguments in another order,
// cells in another arena. And operators that differ from one in one place.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include "ir/operator.h"

namespace tap::passes::test {

struct Shuffled {
  ir::Operator op;
  std::vector<std::uint32_t> operand;  // by old number: the new one
};

class Shuffle {
 public:
  Shuffle(const ir::Operator& op, std::uint64_t seed) : from_(op), random_(seed) {}

  Shuffled run() {
    dim_ = permutation(from_.dims.size());
    tensor_ = permutation(from_.operands.size());
    read_ = permutation(from_.reads.size());
    ir::Operator to = from_;
    for (std::size_t d = 0; d < dim_.size(); ++d) to.dims[dim_[d]] = from_.dims[d], to.dims[dim_[d]].name += "'";
    for (std::size_t k = 0; k < tensor_.size(); ++k) to.operands[tensor_[k]] = from_.operands[k];
    for (ir::Constraint& c : to.constraints) c.expr = moved(c.expr);
    std::shuffle(to.constraints.begin(), to.constraints.end(), random_);
    copy_cells(to);
    for (std::size_t r = 0; r < read_.size(); ++r) to.reads[read_[r]] = moved(from_.reads[r], true);
    for (ir::Access& write : to.writes) write = moved(write, false);
    if (auto* map = std::get_if<ir::MapBody>(&to.body))
      for (ir::CellId& id : map->values) id = cell_.at(id);
    if (auto* reduce = std::get_if<ir::ReduceBody>(&to.body))
      for (ir::CellId& id : reduce->operands) id = cell_.at(id);
    to.name += "'";
    to.operand_names.clear();
    to.result_names.clear();
    return {to, tensor_};
  }

 private:
  std::vector<std::uint32_t> permutation(std::size_t n) {
    std::vector<std::uint32_t> p(n);
    std::iota(p.begin(), p.end(), 0u);
    std::shuffle(p.begin(), p.end(), random_);
    return p;
  }
  ir::AffineExpr moved(const ir::AffineExpr& e) const {
    ir::AffineExpr result = e;
    for (std::size_t d = 0; d < dim_.size(); ++d) result.coefficients[dim_[d]] = e.coefficients[d];
    return result;
  }
  ir::Access moved(ir::Access access, bool is_read) const {
    if (is_read) access.tensor = tensor_[access.tensor];
    for (ir::AffineExpr& row : access.projection.start.rows) row = moved(row);
    for (auto& coordinate : access.coordinates)
      if (coordinate) coordinate = cell_.at(*coordinate);
    if (access.fill) access.fill = cell_.at(*access.fill);
    for (std::uint32_t& d : access.invariant_dims) d = dim_[d];
    return access;
  }
  void copy_cells(ir::Operator& to) {
    to.exprs = {};
    // Some that nothing needs, so that ids differ.
    to.exprs.constant(ir::Scalar::integer(ElementType::i64, static_cast<std::int64_t>(random_() % 50)));
    for (std::uint32_t id = 0; id < from_.exprs.size(); ++id) {
      ir::CellNode node = from_.exprs[ir::CellId(id)];
      for (ir::CellId& arg : node.args) arg = cell_.at(arg);
      if (node.op == ir::CellOp::read) node.attribute = read_[node.attribute];
      if (node.op == ir::CellOp::index) node.attribute = dim_[node.attribute];
      bool commutes = node.op == ir::CellOp::add || node.op == ir::CellOp::mul || node.op == ir::CellOp::max ||
                      node.op == ir::CellOp::equal;
      if (commutes && random_() % 2) std::swap(node.args[0], node.args[1]);
      cell_[ir::CellId(id)] = to.exprs.add(std::move(node));
    }
  }

  const ir::Operator& from_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> dim_, tensor_, read_;
  std::unordered_map<ir::CellId, ir::CellId> cell_;
};

inline Shuffled shuffled(const ir::Operator& op, std::uint64_t seed) { return Shuffle(op, seed).run(); }

// Each differs from the operator in one thing that counts.
inline std::vector<ir::Operator> mutants(const ir::Operator& op) {
  std::vector<ir::Operator> all;
  auto add = [&](auto change) {
    all.push_back(op);
    change(all.back());
  };
  add([](ir::Operator& o) { o.dims[0].range.hi += 1; });
  add([](ir::Operator& o) { o.writes[0].projection.start.rows[0].offset += 1; });
  add([](ir::Operator& o) { o.results[0].shape[0] += 1; });
  for (std::size_t c = 0; c < op.constraints.size(); ++c)
    add([&](ir::Operator& o) { o.constraints[c].expr.offset += 9; });
  add([](ir::Operator& o) {
    auto negate = [&](ir::CellId id) { return o.exprs.apply(ir::CellOp::neg, o.exprs[id].type, {id}); };
    if (auto* map = std::get_if<ir::MapBody>(&o.body)) map->values[0] = negate(map->values[0]);
    if (auto* reduce = std::get_if<ir::ReduceBody>(&o.body)) reduce->operands[0] = negate(reduce->operands[0]);
  });
  return all;
}

}  // namespace tap::passes::test
