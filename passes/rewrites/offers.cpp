#include "passes/rewrites/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/graphs/graph_rebuild.h"
#include "ir/text_names.h"
#include "passes/operator_edit.h"
#include "passes/placed.h"
#include "passes/rebuild.h"

namespace tap::passes {

using namespace ir;

namespace {

// Limit on the operations that are searched for a path back into a set.
constexpr std::size_t most_between = 2000;

bool contains(const std::vector<ValueId>& list, ValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

}  // namespace

Surroundings::Surroundings(const Program& program, const Graph& graph)
    : program_(program),
      graph_(graph),
      names_(value_names(graph)),
      uses_(def_use(graph)),
      is_output_(graph.values.size(), false),
      annotated_(annotated_values(graph)),
      bound_(bound_to_transfers(program, graph)),
      split_(graph.operations.size(), false) {
  for (ValueId v : graph.outputs) is_output_[v.index()] = true;
  for (const SplitRequest& split : graph.splits) split_[split.operation.index()] = true;
}

const std::string& Surroundings::name_of(OperationId operation) const {
  static const std::string none = "an operation without results";
  const std::vector<ValueId>& results = graph_[operation].results;
  return results.empty() ? none : names_[results[0].index()];
}

bool Surroundings::is_read_outside(ValueId value, const Operations& operations) const {
  const auto& readers = uses_.readers[value.index()];
  return is_output_[value.index()] ||
         std::any_of(readers.begin(), readers.end(), [&](OperationId o) { return !operations.contains(o); });
}

Boundary Surroundings::boundary_of(const Operations& operations) const {
  std::set<ValueId> read, written;
  for (OperationId o : operations) {
    read.insert(graph_[o].operands.begin(), graph_[o].operands.end());
    written.insert(graph_[o].results.begin(), graph_[o].results.end());
  }
  Boundary boundary;
  for (ValueId v : read)
    if (!written.contains(v)) boundary.inputs.push_back(v);
  for (ValueId v : written)
    if (is_read_outside(v, operations)) boundary.results.push_back(v);
  return boundary;
}

std::string Surroundings::why_not_offered(const Offer& offer) const {
  Boundary boundary = boundary_of(offer.operations);
  for (ValueId v : boundary.results)
    if (!contains(offer.results, v))
      return fmt::format("`{}`, which it would no longer compute, is also used elsewhere", names_[v.index()]);
  for (OperationId o : offer.operations) {
    if (split_[o.index()]) return "the program splits an operation that it replaces";
    if (!program_[graph_[o].op].blockings.empty() || !graph_[o].placements.empty())
      return "an operation that it replaces is already split";
    if (bound_[o.index()]) return "an operation that it replaces reads through a transfer";
    for (ValueId v : graph_[o].results) {
      if (!contains(boundary.results, v) && annotated_[v.index()])
        return fmt::format("`{}`, which it would no longer compute, has a sharding or a split", names_[v.index()]);
      for (OperationId writer : uses_.writers[v.index()])
        if (!offer.operations.contains(writer))
          return fmt::format("other operations write a part of `{}`", names_[v.index()]);
    }
  }
  return offer.operations.size() > 1 ? why_not_together(offer.operations) : "";
}

// No value may leave the operations and return to them. A path back stays between the first and the last of them.
std::string Surroundings::why_not_together(const Operations& operations) const {
  Operations seen;
  std::vector<OperationId> open(operations.begin(), operations.end());
  while (!open.empty()) {
    OperationId from = open.back();
    open.pop_back();
    for (ValueId v : graph_[from].results)
      for (OperationId to : uses_.readers[v.index()]) {
        if (operations.contains(to)) {
          if (!operations.contains(from)) return "an operation between those that it replaces would remain";
        } else if (to < *operations.rbegin() && seen.insert(to).second) {
          open.push_back(to);
        }
      }
    if (seen.size() > most_between) return "there are too many operations between those that it replaces";
  }
  return "";
}

GraphId GraphAdder::add(Graph graph) {
  added_.push_back(std::move(graph));
  return GraphId(program_.graphs.size() + added_.size() - 1);
}

GraphId GraphAdder::add_part(const Graph& graph, const Operations& operations, const Boundary& boundary,
                             const std::vector<std::string>& names) {
  Graph part;
  part.name = names[boundary.results.front().index()];
  std::map<ValueId, ValueId> mapping;
  auto value = [&](ValueId v) {
    auto [known, fresh] = mapping.emplace(v, ValueId(part.values.size()));
    if (fresh) part.values.push_back({names[v.index()], graph[v].type, false, {}});
    return known->second;
  };
  for (ValueId v : boundary.inputs) part.inputs.push_back(value(v));
  for (OperationId o : operations) {
    Operation operation = graph[o];
    for (ValueId& v : operation.operands) v = value(v);
    for (ValueId& v : operation.results) v = value(v);
    part.operations.push_back(std::move(operation));
  }
  for (ValueId v : boundary.results) part.outputs.push_back(value(v));
  return add(std::move(part));
}

GraphAdder::Added GraphAdder::add_offer(const Offer& offer, const Boundary& boundary, const std::string& name) {
  const Graph& from = (*offer.program)[offer.graph];
  Graph graph;
  graph.name = name;
  std::vector<ValueId> mapping(from.values.size());
  Added all;  // includes dead code
  std::set<std::string> names;
  auto add_value = [&](const std::string& base, TensorType type, ValueId is) {
    std::string unique = base;
    for (int n = 2; !names.insert(unique).second; ++n) unique = fmt::format("{}#{}", base, n);
    graph.values.push_back({std::move(unique), std::move(type)});
    all.values.emplace_back(is);
    return ValueId(graph.values.size() - 1);
  };
  for (ValueId input : boundary.inputs) {
    ValueId own;
    for (std::size_t k = 0; k < offer.inputs.size(); ++k) {
      if (offer.inputs[k] != input) continue;
      const Value& value = from[from.inputs[k]];
      if (!own.valid()) own = add_value(value.name, value.type, from.inputs[k]);
      mapping[from.inputs[k].index()] = own;
    }
    graph.inputs.push_back(own);
  }
  for (std::size_t v = 0; v < from.values.size(); ++v)
    if (!mapping[v].valid()) mapping[v] = add_value(from.values[v].name, from.values[v].type, ValueId(v));
  for (std::size_t o = 0; o < from.operations.size(); ++o) {
    Operation operation = from.operations[o];
    operation.op = import(*offer.program, operation.op);
    for (ValueId& v : operation.operands) v = mapping[v.index()];
    for (ValueId& v : operation.results) v = mapping[v.index()];
    graph.operations.push_back(std::move(operation));
    all.operations.emplace_back(OperationId(o));
  }
  for (ValueId result : boundary.results) {
    auto k =
        static_cast<std::size_t>(std::find(offer.results.begin(), offer.results.end(), result) - offer.results.begin());
    ValueId output = mapping[from.outputs[k].index()];
    // An output must be a separate value: for f(x) => x it is a copy.
    if (contains(graph.inputs, output) || contains(graph.outputs, output)) {
      ValueId own = add_value(graph[output].name, graph[output].type, from.outputs[k]);
      graph.operations.push_back({add(copy_operator(graph[output].type)), {output}, {own}, {}});
      all.operations.emplace_back();
      output = own;
    }
    graph.outputs.push_back(output);
  }
  Selection alive = alive_part(graph);
  Added made{add(rebuild(graph, alive)), {}, {}};
  for (std::size_t v = 0; v < all.values.size(); ++v)
    if (alive.values[v]) made.values.push_back(all.values[v]);
  for (std::size_t o = 0; o < all.operations.size(); ++o)
    if (alive.operations[o]) made.operations.push_back(all.operations[o]);
  return made;
}

// Also imports the monoids that its fold uses.
MonoidId GraphAdder::import(const Program& from, MonoidId id) {
  Monoid monoid = from[id];
  if (monoid.fold) {
    Fold fold;
    std::vector<CellId> mapping;
    for (std::size_t k = 0; k < monoid.fold->exprs.size(); ++k) {
      CellNode node = monoid.fold->exprs[CellId(k)];
      for (CellId& arg : node.args) arg = mapping[arg.index()];
      if (node.op == CellOp::reduce)
        node.attribute = static_cast<std::uint32_t>(import(from, MonoidId(node.attribute)).index());
      mapping.push_back(fold.exprs.add(std::move(node)));
    }
    for (CellId root : monoid.fold->roots) fold.roots.push_back(mapping[root.index()]);
    monoid.fold = std::move(fold);
  }
  return interner_.add(std::move(monoid));
}

OperatorId GraphAdder::import(const Program& from, OperatorId id) {
  Operator op = from[id];
  if (auto* reduce = std::get_if<ReduceBody>(&op.body)) reduce->monoid = import(from, reduce->monoid);
  if (auto* kernel = std::get_if<KernelBody>(&op.body))
    if (kernel->reduced_by) kernel->reduced_by = import(from, *kernel->reduced_by);
  if (auto* region = std::get_if<RegionBody>(&op.body)) {
    region->graph = import(from, region->graph);
    for (Alternative& a : region->alternatives) a.graph = import(from, a.graph);
  }
  return interner_.add(std::move(op));
}

GraphId GraphAdder::import(const Program& from, GraphId id) {
  Graph graph = from[id];
  for (Operation& operation : graph.operations) operation.op = import(from, operation.op);
  return add(std::move(graph));
}

const CanonicalForm& OperatorForms::of(OperatorId op, const std::vector<std::int64_t>& labels) {
  auto [known, fresh] = known_.try_emplace({op, labels});
  if (fresh) known->second = canonical_form(program_, program_[op], labels);
  return known->second;
}

GraphNumbers::Numbers GraphNumbers::outputs(OperatorForms& forms, const Graph& graph, const Numbers& inputs) {
  constexpr std::int64_t region_mark = -2, result_mark = -3;
  const Program& program = forms.program();
  Numbers labels(graph.values.size(), -1);
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) labels[graph.inputs[k].index()] = inputs[k];
  for (const Operation& operation : graph.operations) {
    Numbers operands;
    for (ValueId v : operation.operands) operands.push_back(labels[v.index()]);
    const RegionBody* region = program[operation.op].region();
    if (region && region->kind == RegionKind::choice) {
      Numbers made = outputs(forms, program[region->graph], operands);
      for (std::size_t k = 0; k < made.size(); ++k) labels[operation.results[k].index()] = made[k];
      continue;
    }
    CanonicalForm form;
    if (region) {  // identified by its number
      form.code = operands;
      form.code.insert(form.code.begin(), {region_mark, static_cast<std::int64_t>(operation.op.index())});
      for (std::uint32_t k = 0; k < operation.results.size(); ++k) form.results.push_back(k);
    } else {
      form = forms.of(operation.op, operands);
    }
    for (std::size_t k = 0; k < form.results.size(); ++k) {
      std::int64_t& label = labels[operation.results[form.results[k]].index()];
      Numbers code = form.code;
      code.insert(code.begin(),
                  {result_mark, static_cast<std::int64_t>(k), label});  // after the cells that other writers gave it
      label = number(code);
    }
  }
  Numbers all;
  for (ValueId v : graph.outputs) all.push_back(labels[v.index()]);
  return all;
}

GraphNumbers::Numbers GraphNumbers::of(OperatorForms& forms, const Graph& graph) {
  constexpr std::int64_t input_mark = -1;
  Numbers inputs;
  for (std::size_t k = 0; k < graph.inputs.size(); ++k)
    inputs.push_back(number({input_mark, static_cast<std::int64_t>(k)}));
  return outputs(forms, graph, inputs);
}

}  // namespace tap::passes
