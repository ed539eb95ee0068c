#include "passes/simplify/compose_maps.h"

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/graph_algorithms.h"
#include "ir/interpret/linear_reductions.h"
#include "passes/placed.h"
#include "passes/rebuild.h"
#include "passes/simplify/cell_facts.h"
#include "passes/simplify/compose.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

constexpr std::size_t most_cells = 400,
                      most_reads = 48;  // of a composed operator: more would not stay in registers

// How often the operands of a map or a reduction are computed, saturating: a scan or scatter needs only linear work.
std::int64_t evaluations(const Program& program, const Operator& op) {
  std::vector<bool> counts(op.dims.size(), true);
  if (op.reduce()) {
    if (auto scan = find_scan(op)) counts[scan->along] = false;
    if (auto scatter = find_scatter(op, program[op.reduce()->monoid]))
      for (const auto& target : scatter->targets) counts[target.dim] = false;
  }
  double points = 1;
  for (std::size_t d = 0; d < op.dims.size(); ++d)
    if (counts[d] && op.dims[d].role != DimRole::counter) points *= static_cast<double>(op.dims[d].range.size());
  return static_cast<std::int64_t>(std::min(points, 1e17));
}

// Whether it runs as a scan or a scatter: in linear work.
bool is_linear(const Program& program, const Operator& op) {
  return op.reduce() && (find_scan(op) || find_scatter(op, program[op.reduce()->monoid]));
}

class MapComposer {
 public:
  MapComposer(Program& program, GraphId id, std::vector<Remark>& remarks)
      : program_(program),
        graph_(program[id]),
        to_(program, id),
        remarks_(remarks),
        uses_(def_use(graph_)),
        bound_(bound_to_transfers(program, graph_)),
        noted_(annotated_values(graph_)),
        roles_(graph_.operations.size(), Role::open),
        replaced_(graph_.operations.size()),
        outputs_(graph_.values.size(), false) {
    for (ValueId v : graph_.outputs) outputs_[v.index()] = true;
  }

  Rebuilt run() {
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) consider(OperationId{i});
    for (std::size_t i = 0; i < graph_.operations.size(); ++i) {
      OperationId id{i};
      if (roles_[i] == Role::removed) continue;
      if (replaced_[i].empty()) to_.copy(id);
      else add_composed(id);
    }
    return to_.finish();
  }

 private:
  // Of an operation, in this run. open: not yet decided; producer: its readers compute it, but it is still written;
  // gone: the same, and not written; consumer: a reader.
  enum class Role : std::uint8_t { open, producer, removed, consumer };

  bool is_output(ValueId v) const { return outputs_[v.index()]; }

  void remark(OperationId about, std::string message) {
    remarks_.push_back({"", graph_.name, name_of(graph_, about), std::move(message)});
  }

  // y = f(h), h = g(x)  →  y = (f ∘ g)(x)
  void consider(OperationId id) {
    const Operation& operation = graph_[id];
    const Operator& op = program_[operation.op];
    if (roles_[id.index()] != Role::open || !op.map() || operation.results.size() != 1) return;
    ValueId value = operation.results[0];
    const std::vector<OperationId>& readers = uses_.readers[value.index()];
    if (readers.empty() || uses_.writers[value.index()].size() != 1) return;
    std::string why;
    auto producer = as_producer(op, why);
    if (!producer || !may_remove(operation, value, why)) return remark(id, why);
    CellCost cost = cost_of(op, op.map()->values);
    std::vector<OperationId> willing;
    for (OperationId reader : readers) {
      if (roles_[reader.index()] == Role::producer || roles_[reader.index()] == Role::removed)
        return;  // the next run's
      if (can_compute(reader, value, *producer, why)) willing.push_back(reader);
    }
    bool all = willing.size() == readers.size() && !is_output(value);
    bool moves = cost.flops == 0 && cost.reads <= 1;
    if (is_output(value)) why = "it is a result, so it must be stored";
    if (!all && !(moves && !willing.empty())) return remark(id, why);
    if (!moves && !pays(value, cost, why)) return remark(id, why);
    roles_[id.index()] = all ? Role::removed : Role::producer;
    for (OperationId reader : willing) replace(reader, value, *producer);
  }

  bool may_remove(const Operation& operation, ValueId value, std::string& why) const {
    why = "its writer reads through a transfer";
    if (bound_[uses_.writers[value.index()][0].index()]) return false;
    why = "it has a sharding or a split";
    return !noted_[value.index()] && operation.operand_shardings.empty() && operation.placements.empty();
  }

  bool can_compute(OperationId reader, ValueId value, const Producer& producer, std::string& why) {
    auto no = [&](std::string_view reason) {
      why = "its reader `" + name_of(graph_, reader) + "` " + std::string(reason);
      return false;
    };
    const Operation& operation = graph_[reader];
    const Operator& op = program_[operation.op];
    if (!op.map() && !op.reduce()) return no("is neither a map nor a reduction");
    if (bound_[reader.index()]) return no("reads through a transfer");
    if (!operation.operand_shardings.empty()) return no("fixes the shardings of its operands");
    for (const Access& access : op.reads)
      if (operation.operands[access.tensor] == value &&
          std::any_of(access.coordinates.begin(), access.coordinates.end(),
                      [](const auto& c) { return c.has_value(); }))
        return no("reads it at data-dependent coordinates");
    try {
      Composition made = compose_with(reader, value, producer);
      if (made.op.exprs.size() > most_cells || made.op.reads.size() > most_reads) return no("would become too large");
      if (is_linear(program_, op) && !is_linear(program_, made.op)) return no("would no longer run in linear time");
    } catch (const Overflow&) { return no("would have coordinates that overflow 64 bits"); }
    return true;
  }

  // The cost of cells that are computed more than once, against the saved write and reads.
  bool pays(ValueId value, const CellCost& cost, std::string& why) const {
    double cells = 1, times = 0;
    for (std::int64_t n : graph_[value].type.shape) cells *= static_cast<double>(n);
    for (OperationId reader : uses_.readers[value.index()]) {
      const Operation& operation = graph_[reader];
      const Operator& op = program_[operation.op];
      auto reads = std::count_if(op.reads.begin(), op.reads.end(),
                                 [&](const Access& a) { return operation.operands[a.tensor] == value; });
      times += static_cast<double>(evaluations(program_, op)) * static_cast<double>(reads);
    }
    double more = std::max(0.0, times - cells) * static_cast<double>(cost.flops + cost.reads);
    if (more <= times + cells) return true;
    why = "its readers would compute each cell about " +
          std::to_string(static_cast<std::int64_t>(times / std::max(cells, 1.0) + 0.5)) + " times";
    return false;
  }

  std::vector<ReplacedOperand> replacements(OperationId reader, ValueId value, const Producer& producer) const {
    std::vector<ReplacedOperand> all;
    const std::vector<ValueId>& operands = graph_[reader].operands;
    for (std::uint32_t t = 0; t < operands.size(); ++t)
      if (operands[t] == value) all.push_back({t, producer, graph_[uses_.writers[value.index()][0]].operands});
    return all;
  }
  // Including earlier decisions for this reader.
  Composition compose_with(OperationId reader, ValueId value, const Producer& producer) const {
    std::vector<ReplacedOperand> all = replaced_[reader.index()];
    for (ReplacedOperand& r : replacements(reader, value, producer)) all.push_back(std::move(r));
    return compose(program_[graph_[reader].op], graph_[reader].operands, all);
  }
  void replace(OperationId reader, ValueId value, const Producer& producer) {
    roles_[reader.index()] = Role::consumer;
    for (ReplacedOperand& r : replacements(reader, value, producer)) replaced_[reader.index()].push_back(std::move(r));
  }

  void add_composed(OperationId id) {
    Operation operation = graph_[id];
    Composition made = compose(program_[operation.op], operation.operands, replaced_[id.index()]);
    Composed claim{{{}, id}, {}};
    for (std::size_t k = 0; k < made.reads.size(); ++k) {
      ValueId value = operation.operands[replaced_[id.index()][made.replaced_by[k]].tensor];
      claim.reads.push_back({made.reads[k], {{}, uses_.writers[value.index()][0]}});
    }
    operation.operands = std::move(made.operands);
    if (operation.names)  // counters that only a producer has keep its names
      for (std::size_t d = operation.names->dims.size(); d < made.op.dims.size(); ++d)
        operation.names->dims.push_back(made.op.dims[d].name);
    operation.op = OperatorId{program_.operators.size() + made_.size()};
    made_.push_back(std::move(made.op));
    to_.add(std::move(operation), std::move(claim), id);
  }

 public:
  // To be added when nothing refers to the program's operators any more.
  std::vector<Operator> take_operators() { return std::move(made_); }

 private:
  Program& program_;
  const Graph& graph_;
  Rebuild to_;
  std::vector<Remark>& remarks_;
  DefUse uses_;
  std::vector<bool> bound_;                             // by operation
  std::vector<bool> noted_;                             // by value
  std::vector<Role> roles_;                             // by operation
  std::vector<std::vector<ReplacedOperand>> replaced_;  // by operation
  std::vector<bool> outputs_;                           // by value
  std::vector<Operator> made_;
};

}  // namespace

PassResult compose_maps(const Program& program, const PassContext&) {
  return rewrite_graphs(program, [](Program& all, GraphId id, std::vector<Remark>& remarks) {
    MapComposer composer(all, id, remarks);
    Rebuilt made = composer.run();
    for (Operator& op : composer.take_operators()) all.operators.push_back(std::move(op));
    return made;
  });
}

}  // namespace tap::passes
