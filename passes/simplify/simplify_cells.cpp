#include "passes/simplify/simplify_cells.h"

#include <unordered_map>

#include "ir/graph.h"
#include "passes/rebuild.h"
#include "passes/simplify/cell_facts.h"
#include "passes/simplify/cell_rules.h"
#include "passes/simplify/cell_values.h"

namespace tap::passes {

using namespace ir;

namespace {

constexpr std::size_t most_uses = 20'000;  // of axioms in one operator

struct SimplifiedOperator {
  Operator op;
  std::vector<std::uint32_t> operands;  // remaining operands of the old operator
  CellExprs terms;
  std::vector<AxiomUse> uses;  // none: the operator is unchanged
};

// Simplifies in an arena that only grows: the old cells keep their ids, so that axioms can refer to both.
class CellSimplifier {
 public:
  explicit CellSimplifier(const Operator& op) : from_(op), work_(op) {}

  SimplifiedOperator run() {
    for (CellId cell : starts()) simple(cell);
    SimplifiedOperator result{from_, {}, {}, {}};
    std::vector<CellId> needed = needed_after();
    if (!uses_.empty() || reads_of(needed).size() < from_.reads.size()) rebuild(needed, result);
    else
      for (std::uint32_t t = 0; t < from_.operands.size(); ++t) result.operands.push_back(t);
    result.terms = std::move(work_.exprs);
    result.uses = std::move(uses_);
    return result;
  }

 private:
  std::vector<CellId> starts() const { return needed_cells(from_, roots_of(from_)); }

  // Arguments first, so a term's arguments are already simple.
  CellId simple(CellId cell) {
    if (auto at = simple_.find(cell); at != simple_.end()) return at->second;
    CellNode node = work_.exprs[cell];
    for (CellId& arg : node.args) arg = simple(arg);
    CellId term = node.args == work_.exprs[cell].args ? cell : work_.exprs.add(node);
    CellId result = term;
    while (uses_.size() < most_uses) {
      auto value = known_value(result);
      if (!value) break;
      uses_.push_back({std::string(value->axiom), value->variables});
      if (value->value == result) break;
      result = value->value;
      // A rule may build arguments that are not yet simple.
      CellNode made = work_.exprs[result];
      for (CellId& arg : made.args) arg = simple(arg);
      result = work_.exprs.add(made);
    }
    simple_.emplace(cell, result);
    simple_.emplace(term, result);
    simple_.emplace(result, result);
    return result;
  }

  std::optional<CellValue> known_value(CellId cell) {
    if (auto value = folded(work_.exprs, cell)) return value;
    if (auto value = without_cast(work_.exprs, cell)) return value;
    for (const CellRule& rule : cell_rules()) {
      auto variables = match(rule, work_.exprs, cell);
      if (!variables || fails(rule, *variables)) continue;
      CellId value = instantiate(rule.right, *variables, work_.exprs[cell].type, work_.exprs);
      return CellValue{rule.text, *variables, value};
    }
    if (auto value = affine_form(work_, cell)) return value;
    return decided_by_domain(work_, cell);
  }

  // Whether the rule would remove a failure.
  bool fails(const CellRule& rule, const Bindings& variables) const {
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (rule.may_not_fail[v] && may_fail(work_, {variables[v]})) return true;
    return false;
  }

  // The cells that the simple roots need, with simple coordinates and fills of reads.
  std::vector<CellId> needed_after() {
    for (Access& access : work_.reads) {
      for (auto& coordinate : access.coordinates)
        if (coordinate) coordinate = now(*coordinate);
      if (access.fill) access.fill = now(*access.fill);
    }
    std::vector<CellId> roots = roots_of(from_);
    for (CellId& root : roots) root = now(root);
    return needed_cells(work_, roots);
  }
  CellId now(CellId cell) const {
    auto at = simple_.find(cell);
    return at == simple_.end() ? cell : at->second;
  }
  std::vector<std::uint32_t> reads_of(const std::vector<CellId>& cells) const {
    std::vector<bool> read(work_.reads.size(), false);
    for (CellId id : cells)
      if (work_.exprs[id].op == CellOp::read) read[work_.exprs[id].attribute] = true;
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t r = 0; r < read.size(); ++r)
      if (read[r]) numbers.push_back(r);
    return numbers;
  }

  // The operator with only these cells, and the reads that they need.
  void rebuild(const std::vector<CellId>& cells, SimplifiedOperator& result) const {
    Operator& op = result.op;
    op.exprs = {};
    op.reads.clear();
    op.operands.clear();
    op.operand_names.clear();
    std::vector<std::uint32_t> reads = reads_of(cells), new_read(from_.reads.size());
    for (std::uint32_t k = 0; k < reads.size(); ++k) new_read[reads[k]] = k;
    std::vector<bool> used(from_.operands.size(), false);
    for (std::uint32_t r : reads) used[work_.reads[r].tensor] = true;
    std::vector<std::uint32_t> new_tensor(used.size());
    for (std::uint32_t t = 0; t < used.size(); ++t) {
      if (!used[t]) continue;
      new_tensor[t] = static_cast<std::uint32_t>(result.operands.size());
      result.operands.push_back(t);
      op.operands.push_back(from_.operands[t]);
      if (!from_.operand_names.empty()) op.operand_names.push_back(from_.operand_names[t]);
    }
    std::unordered_map<CellId, CellId> placed;
    for (CellId id : cells) {
      CellNode node = work_.exprs[id];
      for (CellId& arg : node.args) arg = placed.at(arg);
      if (node.op == CellOp::read) node.attribute = new_read[node.attribute];
      placed.emplace(id, op.exprs.add(std::move(node)));
    }
    for (std::uint32_t r : reads) {
      Access access = work_.reads[r];
      access.tensor = new_tensor[access.tensor];
      for (auto& coordinate : access.coordinates)
        if (coordinate) coordinate = placed.at(*coordinate);
      if (access.fill) access.fill = placed.at(*access.fill);
      op.reads.push_back(std::move(access));
    }
    auto remap = [&](std::vector<CellId>& roots) {
      for (CellId& root : roots) root = placed.at(now(root));
    };
    if (auto* map = std::get_if<MapBody>(&op.body)) remap(map->values);
    if (auto* reduce = std::get_if<ReduceBody>(&op.body)) remap(reduce->operands);
  }

  const Operator& from_;
  Operator work_;
  std::unordered_map<CellId, CellId> simple_;
  std::vector<AxiomUse> uses_;
};

// Simplifies every operator once, however many operations apply it.
class SimplifiedOperators {
 public:
  const SimplifiedOperator& of(const Operator& op, OperatorId id) {
    auto [at, fresh] = all_.try_emplace(id);
    if (fresh) at->second = CellSimplifier(op).run();
    return at->second;
  }

 private:
  std::unordered_map<OperatorId, SimplifiedOperator> all_;
};

bool drops(const SimplifiedOperator& simplified, const Operation& operation) {
  return simplified.operands.size() < operation.operands.size();
}

Operation applied(const Operation& operation, const SimplifiedOperator& simplified) {
  Operation made = operation;
  made.operands.clear();
  made.operand_shardings.clear();
  for (std::uint32_t t : simplified.operands) {
    made.operands.push_back(operation.operands[t]);
    if (!operation.operand_shardings.empty()) made.operand_shardings.push_back(operation.operand_shardings[t]);
  }
  return made;
}

}  // namespace

PassResult simplify_cells(const Program& program, const PassContext&) {
  SimplifiedOperators simplified;
  std::unordered_map<OperatorId, OperatorId> made;
  return rewrite_graphs(program, [&](Program& all, GraphId id, std::vector<Remark>&) {
    Rebuild to(all, id);
    const Graph& graph = to.graph();
    for (std::size_t i = 0; i < graph.operations.size(); ++i) {
      OperationId at{i};
      const Operation& operation = graph[at];
      const Operator& op = program[operation.op];
      if (!op.map() && !op.reduce()) {
        to.copy(at);
        continue;
      }
      const SimplifiedOperator& simple = simplified.of(op, operation.op);
      if (simple.uses.empty() && !drops(simple, operation)) {
        to.copy(at);
        continue;
      }
      auto [it, fresh] = made.try_emplace(operation.op, OperatorId{all.operators.size()});
      if (fresh) all.operators.push_back(simple.op);
      Operation changed = applied(operation, simple);
      changed.op = it->second;
      to.add(std::move(changed), Simplified{{{}, at}, simple.terms, simple.uses}, at);
    }
    return to.finish();
  });
}

}  // namespace tap::passes
