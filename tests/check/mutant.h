// What a kind of change to a step is, and what kinds have in common. Each names the obligations that may object first; a
// harmless one must be accepted.
#pragma once

#include <random>

#include "tests/check/cases.h"

namespace tap::check::cases {

struct Mutant {
  Case of;
  std::mt19937& random;
  Mutant(Case c, std::mt19937& r) : of(std::move(c)), random(r) {}

  std::size_t any(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); }
  template <class T>
  T* any(std::vector<T>& list) {
    return list.empty() ? nullptr : &list[any(list.size())];
  }
  // An operation of a graph that is claimed, and its operator, made its own so that others keep theirs.
  GraphClaim* claim() { return any(of.step.graphs); }
  Graph& graph(const GraphClaim& claim) { return of.after.graphs[claim.after.index()]; }
  Operator* op() {
    GraphClaim* in = claim();
    return its_own(in ? any(graph(*in).operations) : nullptr);
  }
  Operator* its_own(Operation* operation) {
    if (!operation) return nullptr;
    of.after.operators.push_back(of.after[operation->op]);
    operation->op = OperatorId(of.after.operators.size() - 1);
    return &of.after.operators.back();
  }
  template <class J>
  J* justified() {
    GraphClaim* in = claim();
    std::vector<J*> found;
    for (Justification& j : in ? in->operations : none_)
      if (auto* one = std::get_if<J>(&j)) found.push_back(one);
    return found.empty() ? nullptr : found[any(found.size())];
  }
  // The arena with one node changed.
  static bool change_cell(Operator& op, std::size_t at, CellNode node) {
    CellExprs exprs;
    std::vector<CellId> new_ids;
    for (std::size_t k = 0; k < op.exprs.size(); ++k) {
      CellNode copy = k == at ? node : op.exprs[CellId(k)];
      for (CellId& arg : copy.args) arg = new_ids[arg.index()];
      new_ids.push_back(exprs.add(copy));
    }
    op.exprs = std::move(exprs);
    auto move = [&](CellId& cell) { cell = new_ids[cell.index()]; };
    for (Access& read : op.reads) {
      for (auto& c : read.coordinates)
        if (c) move(*c);
      if (read.fill) move(*read.fill);
    }
    if (auto* map = std::get_if<MapBody>(&op.body)) std::for_each(map->values.begin(), map->values.end(), move);
    if (auto* reduce = std::get_if<ReduceBody>(&op.body))
      std::for_each(reduce->operands.begin(), reduce->operands.end(), move);
    return true;
  }
  std::optional<std::size_t> cell(Operator* op, CellOp with_op) {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; op && k < op->exprs.size(); ++k)
      if (op->exprs[CellId(k)].op == with_op) found.push_back(k);
    if (found.empty()) return std::nullopt;
    return found[any(found.size())];
  }

 private:
  std::vector<Justification> none_;
};

struct Kind {
  const char* name;
  std::vector<std::string> objects;  // none: harmless
  bool (*change)(Mutant& m);         // false: there is nothing of that kind to change
};

namespace changes {

// What a changed operator is refused by, whatever it was justified by.
inline const std::vector<std::string> by_operator = {
    "copied",   "axioms",        "composition", "blocks-partition", "reduction-partition", "unroll",
    "group",    "reads-covered", "well-formed", "writes-exact",     "equal-operations",    "scan",
    "transfer", "fold",          "staged"};
inline const std::vector<std::string> by_flow = {
    "copied",      "axioms",    "composition", "blocks-partition", "reduction-partition",
    "unroll",      "group",     "data-flow",   "writes-exact",     "interface",
    "well-formed", "induction", "scan",        "transfer",         "reads-covered",
    "held",        "fold",      "staged"};

inline const std::vector<std::string> by_blocks = {
    "blocks-partition", "reduction-partition", "well-formed", "scan", "reads-covered", "copied", "fold", "staged"};
inline const std::vector<std::string> by_monoid = {"copied", "reduction-partition", "blocks-partition", "scan", "fold",
                                                   "staged"};

inline AffineExpr* any_row(Mutant& m, std::vector<Access> Operator::*accesses) {
  Operator* op = m.op();
  Access* access = op ? m.any(op->*accesses) : nullptr;
  return access ? m.any(access->projection.start.rows) : nullptr;
}
inline Blocking* any_blocking(Mutant& m, Operator** its = nullptr) {
  Operator* op = m.op();
  if (its) *its = op;
  return op ? m.any(op->blockings) : nullptr;
}
inline BlockPlacement* any_placement(Mutant& m, Operation** its = nullptr) {
  GraphClaim* claim = m.claim();
  Operation* operation = claim ? m.any(m.graph(*claim).operations) : nullptr;
  if (its) *its = operation;
  return operation ? m.any(operation->placements) : nullptr;
}
inline Operator* any_transfer(Mutant& m) {
  GraphClaim* claim = m.claim();
  std::vector<Operation*> found;
  if (claim)
    for (Operation& operation : m.graph(*claim).operations)
      if (m.of.after[operation.op].transfer()) found.push_back(&operation);
  return found.empty() ? nullptr : m.its_own(*m.any(found));
}
inline bool is_moved(const Program& program, ValueId value, const Graph& graph) {
  return std::ranges::any_of(graph.operations, [&](const Operation& operation) {
    return program[operation.op].transfer() && operation.results[0] == value;
  });
}
// An operation that runs on devices and reads what a transfer moves.
inline Operation* any_reader_of_a_transfer(Mutant& m) {
  GraphClaim* claim = m.claim();
  std::vector<Operation*> found;
  if (claim)
    for (Operation& operation : m.graph(*claim).operations)
      if (!operation.placements.empty() && std::ranges::any_of(operation.operands, [&](ValueId value) {
            return is_moved(m.of.after, value, m.graph(*claim));
          }))
        found.push_back(&operation);
  return found.empty() ? nullptr : *m.any(found);
}
inline bool exchange_rows(Mutant& m, std::vector<Access> Operator::*accesses) {
  Operator* op = m.op();
  Access* access = op ? m.any(op->*accesses) : nullptr;
  if (!access || access->projection.start.rows.size() < 2) return false;
  std::swap(access->projection.start.rows[0], access->projection.start.rows[1]);
  return true;
}
inline bool replace_op(Mutant& m, CellOp from, CellOp to) {
  Operator* op = m.op();
  auto at = m.cell(op, from);
  if (!at) return false;
  CellNode node = op->exprs[CellId(*at)];
  node.op = to;
  return Mutant::change_cell(*op, *at, node);
}
inline ValueId another(Mutant& m, const Graph& graph, ValueId than) {
  std::vector<ValueId> found;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (ValueId(v) != than && graph.values[v].type == graph[than].type) found.push_back(ValueId(v));
  return found.empty() ? than : found[m.any(found.size())];
}
inline Operator* group_of(Mutant& m) {
  for (Operator& op : m.of.after.operators)
    if (op.region() && op.region()->kind == RegionKind::group) return &op;
  return nullptr;
}

}  // namespace changes

}  // namespace tap::check::cases
