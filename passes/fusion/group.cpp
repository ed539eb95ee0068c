#include "passes/fusion/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "passes/fusion/group_dims.h"
#include "passes/operator_edit.h"
#include "passes/placed.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

struct Declined {
  Refusal refusal;
};

class Maker {
 public:
  Maker(const GroupMaker& in, std::vector<OperationId> operations)
      : in_(in), program_(in.program()), graph_(in.graph()), operations_(std::move(operations)) {
    std::sort(operations_.begin(), operations_.end());
    operations_.erase(std::unique(operations_.begin(), operations_.end()), operations_.end());
    for (OperationId o : operations_) index_.emplace(o, index_.size());
  }

  void check_members() const;
  void make_inner_graph();
  MadeGroup make(const std::vector<std::uint32_t>& over);
  // Among the dims that it was made over.
  std::optional<std::uint32_t> repeating(const RecomputeLimit& limit) const {
    auto g = repeating_dim(view(), windows_, limit);
    return g ? std::optional(over_[*g]) : std::nullopt;
  }
  // A reduction dim that no inner operation follows: its loop stays where it is.
  std::optional<std::uint32_t> idle_stream() const;

 private:
  [[noreturn]] static void decline(std::string reason, std::optional<std::uint32_t> dim = {}) {
    throw Declined{{std::move(reason), dim}};
  }
  const Operator& op(std::size_t k) const { return program_[graph_[operations_[k]].op]; }
  bool inside(OperationId o) const { return index_.count(o) > 0; }
  std::string name(std::size_t k) const { return "`" + graph_[graph_[operations_[k]].results[0]].name + "`"; }
  std::string inner_name(std::size_t k) const { return "`" + inner_[inner_.operations[k].results[0]].name + "`"; }
  Operator inner_op(std::size_t k) const { return with_author_names(program_, inner_.operations[k]); }

  void check_order() const;
  std::string unused_name(std::string name) const;

  void add_dims(const std::vector<std::uint32_t>& over);
  void add_counters();
  void add_anchors(const std::vector<std::uint32_t>& over);
  void anchor(std::size_t k, std::uint32_t g, std::uint32_t over);
  void expect(const std::optional<Refusal>& refusal) const;
  Operator make_operator() const;

  const GroupMaker& in_;
  const Program& program_;
  const Graph& graph_;
  std::vector<OperationId> operations_;
  std::map<OperationId, std::size_t> index_;
  Graph inner_;
  std::vector<Operator> copies_;
  std::vector<ValueId> operands_, results_;  // of the enclosing graph
  std::vector<std::uint32_t> over_;
  std::vector<IndexDim> dims_;
  std::vector<GroupAnchor> anchors_;
  SharedDims shared_;
  MovingDemand windows_;
  GroupView view() const { return {program_, inner_, dims_, anchors_}; }
};

void Maker::check_members() const {
  for (std::size_t k = 0; k < operations_.size(); ++k) {
    const Operator& its = op(k);
    bool group = its.region() && its.region()->kind == RegionKind::group;
    if (!its.map() && !its.reduce() && !group)
      decline(
          fmt::format("{} is neither a map nor a reduction, so the group cannot compute it block by block", name(k)));
    if (!its.blockings.empty()) decline(name(k) + " is already split");
    if (in_.is_placed(operations_[k])) decline(name(k) + " is already placed and reads through a transfer");
    for (const SplitRequest& split : graph_.splits)
      if (split.operation == operations_[k]) decline(name(k) + " has a split in the program that is not applied yet");
    for (ValueId v : graph_[operations_[k]].results)
      for (OperationId other : in_.uses().writers[v.index()])
        if (!inside(other)) decline(fmt::format("`{}` has another writer outside the group", graph_[v].name));
  }
  check_order();
}

// No outside operation may be between two inner ones.
void Maker::check_order() const {
  std::vector<OperationId> reached;
  std::set<OperationId> seen;
  auto leave = [&](OperationId from) {
    for (ValueId v : graph_[from].results)
      for (OperationId reader : in_.uses().readers[v.index()]) {
        if (inside(reader) && !inside(from))
          decline(fmt::format(
              "`{}` would have to run inside the group: it reads a result of the group, and {} reads its result",
              graph_[graph_[from].results[0]].name, name(index_.at(reader))));
        if (!inside(reader) && reader < operations_.back() && seen.insert(reader).second) reached.push_back(reader);
      }
  };
  for (OperationId o : operations_) leave(o);
  while (!reached.empty()) {
    OperationId next = reached.back();
    reached.pop_back();
    leave(next);
  }
}

void Maker::make_inner_graph() {
  std::map<ValueId, ValueId> mapping;
  auto add = [&](ValueId v) {
    auto [it, fresh] = mapping.emplace(v, ValueId(inner_.values.size()));
    if (fresh) inner_.values.push_back(graph_[v]);
    return it->second;
  };
  std::map<ValueId, bool> written;
  for (OperationId o : operations_)
    for (ValueId v : graph_[o].results) written[v] = true;
  for (OperationId o : operations_) {
    Operation copy = graph_[o];
    for (ValueId& v : copy.operands) {
      ValueId outer = v;
      bool fresh = !mapping.count(outer);
      v = add(outer);
      if (!fresh || written.count(outer)) continue;
      operands_.push_back(outer);
      inner_.inputs.push_back(v);
    }
    for (ValueId& v : copy.results) v = add(v);
    inner_.operations.push_back(std::move(copy));
  }
  for (ValueId v : in_.copied_results(operations_)) {
    ValueId &is = mapping.at(v), parts = is;
    is = ValueId(inner_.values.size());
    inner_.values.push_back(graph_[v]);
    inner_.values[parts.index()] = Value{unused_name(graph_[v].name + ".parts"), graph_[v].type};
    inner_.operations.push_back({in_.copy_of(v), {parts}, {is}, {}});
    copies_.push_back(program_[in_.copy_of(v)]);
  }
  // The group is named after its last operation: its results come first.
  for (std::size_t k = inner_.operations.size(); k-- > 0;)
    for (ValueId v : inner_.operations[k].results) {
      auto outer = std::find_if(mapping.begin(), mapping.end(), [&](const auto& pair) { return pair.second == v; });
      if (outer == mapping.end() || !in_.escapes(outer->first, operations_)) continue;
      if (std::find(inner_.outputs.begin(), inner_.outputs.end(), v) != inner_.outputs.end()) continue;
      results_.push_back(outer->first);
      inner_.outputs.push_back(v);
    }
  inner_.name = graph_[results_.front()].name;
}

std::string Maker::unused_name(std::string name) const {
  while (std::any_of(inner_.values.begin(), inner_.values.end(), [&](const Value& v) { return v.name == name; }))
    name += "'";
  return name;
}

void Maker::add_dims(const std::vector<std::uint32_t>& over) {
  over_ = over;
  dims_.clear();
  anchors_.clear();
  const std::size_t operations = inner_.operations.size();
  const Operator last = inner_op(operations - 1);
  for (std::uint32_t d : over) dims_.push_back(last.dims[d]);
  shared_ = shared_dims(program_, inner_, inner_.operations, operations - 1, over);
  for (std::size_t k = 0; k < operations; ++k) {
    if (!writes_result(inner_, k)) continue;
    for (std::uint32_t g = 0; g < over.size(); ++g) anchor(k, g, over[g]);
  }
  add_counters();
}

// An operation that writes a result runs over every dim of the group.
void Maker::anchor(std::size_t k, std::uint32_t g, std::uint32_t over) {
  const Operator its = inner_op(k);
  const std::string& dim = dims_[g].name;
  auto own = std::find(shared_[k].begin(), shared_[k].end(), std::optional(g));
  if (own == shared_[k].end())
    decline(fmt::format("{}, which is read outside the group, has no dim that corresponds to {}", inner_name(k), dim),
            over);
  auto d = static_cast<std::uint32_t>(own - shared_[k].begin());
  if (its.dims[d].range != dims_[g].range)
    decline(fmt::format("`{}` of {} has the range {}, but `{}` of the group has the range {}", its.dims[d].name,
                        inner_name(k), to_string(its.dims[d].range), dim, to_string(dims_[g].range)),
            over);
  if (its.dims[d].role != dims_[g].role)
    decline(fmt::format("{} is complete only after its loop over {}, but {} reads it at each point of that loop: they "
                        "cannot share the loop",
                        inner_name(its.dims[d].role == DimRole::reduction ? k : inner_.operations.size() - 1),
                        its.dims[d].name,
                        inner_name(its.dims[d].role == DimRole::reduction ? inner_.operations.size() - 1 : k)),
            over);
  anchors_.push_back({g, static_cast<std::uint32_t>(k), d});
}

void Maker::add_counters() {
  std::map<std::uint32_t, std::uint32_t> by_level;
  for (std::size_t k = 0; k < operations_.size(); ++k)
    for (std::uint32_t d = 0; d < op(k).dims.size(); ++d) {
      const IndexDim& dim = op(k).dims[d];
      if (dim.role != DimRole::counter) continue;
      auto [it, fresh] = by_level.emplace(dim.level, static_cast<std::uint32_t>(dims_.size()));
      if (fresh) dims_.push_back(dim);
      anchors_.push_back({it->second, static_cast<std::uint32_t>(k), d});
    }
}

// Messages use the last operation's names of the group's dims.
void Maker::expect(const std::optional<Refusal>& refusal) const {
  if (!refusal) return;
  bool of_over = refusal->dim && *refusal->dim < over_.size();
  decline(refusal->reason, of_over ? std::optional(over_[*refusal->dim]) : std::nullopt);
}

Operator Maker::make_operator() const {
  Operator group;
  group.name = inner_.name;
  group.dims = dims_;
  for (ValueId v : operands_) {
    group.operands.push_back(graph_[v].type);
    group.operand_names.push_back(graph_[v].name);
  }
  for (ValueId v : results_) {
    group.results.push_back(graph_[v].type);
    group.result_names.push_back(graph_[v].name);
  }
  group.reads = group_reads(view(), windows_);
  group.writes = group_writes(view(), windows_);
  for (Access& write : group.writes)
    for (std::uint32_t g = 0; g < dims_.size(); ++g) {
      const auto& rows = write.projection.start.rows;
      bool used =
          std::any_of(rows.begin(), rows.end(), [&](const AffineExpr& row) { return row.coefficients[g] != 0; });
      if (!used && dims_[g].role == DimRole::parallel) write.invariant_dims.push_back(g);
    }
  group.body = RegionBody{RegionKind::group, {}, {}, anchors_, {}};
  return group;
}

MadeGroup Maker::make(const std::vector<std::uint32_t>& over) {
  add_dims(over);
  expect(why_not_streamed(view(), in_.caution()));
  windows_ = moving_demand(view());
  expect(why_not_writable_by_points(view(), windows_));
  expect(why_not_once(view(), windows_));
  return {make_operator(), inner_, operations_, copies_, operands_, results_, group_facts(view(), windows_)};
}

std::optional<std::uint32_t> Maker::idle_stream() const {
  for (std::uint32_t g = 0; g < over_.size(); ++g) {
    if (dims_[g].role != DimRole::reduction) continue;
    bool followed = false;
    for (std::size_t k = 0; k < inner_.operations.size(); ++k)
      for (const Window& w : windows_.operations[k])
        followed |= !writes_result(inner_, k) && w.start.coefficients[g] != 0;
    if (!followed) return over_[g];
  }
  return std::nullopt;
}

// y[i, j] = y.parts[i, j], with the dims that writers of y call so.
Operator copy_operator_of(const Program& program, const Graph& graph, ValueId value,
                          const std::vector<OperationId>& writers) {
  Operator copy = copy_operator(graph[value].type);
  copy.name = graph[value].name;
  for (std::size_t axis = 0; axis < copy.dims.size(); ++axis)
    for (OperationId o : writers) {
      const Operator writer = with_author_names(program, graph[o]);
      auto write = std::find_if(writer.writes.begin(), writer.writes.end(),
                                [&](const Access& a) { return graph[o].results[a.tensor] == value; });
      const std::vector<std::int64_t>& by = write->projection.start.rows[axis].coefficients;
      const auto used = std::find_if(by.begin(), by.end(), [](std::int64_t c) { return c != 0; });
      if (used == by.end()) continue;
      const std::string& name = writer.dims[static_cast<std::size_t>(used - by.begin())].name;
      if (find_dim(copy, name)) continue;
      copy.dims[axis].name = name;
      break;
    }
  return copy;
}

std::vector<std::uint32_t> all_dims(const Operator& op) {
  std::vector<std::uint32_t> dims;
  for (std::uint32_t d = 0; d < op.dims.size(); ++d)
    if (op.dims[d].role != DimRole::counter && !op.dims[d].keep) dims.push_back(d);
  return dims;
}

}  // namespace

GroupMaker::GroupMaker(const Program& program, const Graph& graph, const Caution& caution)
    : program_(program),
      graph_(graph),
      caution_(caution),
      uses_(def_use(graph)),
      is_output_(graph.values.size(), false),
      bound_(bound_to_transfers(program, graph)) {
  for (ValueId v : graph.outputs) is_output_[v.index()] = true;
  // A sharding that the program gives stays visible, so the value remains a result.
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].sharding) is_output_[v] = true;
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    if (uses_.writers[v].size() < 2) continue;
    if (!with_copies_) with_copies_ = program;
    copies_.emplace(ValueId(v), OperatorId(with_copies_->operators.size()));
    with_copies_->operators.push_back(copy_operator_of(program, graph, ValueId(v), uses_.writers[v]));
  }
}

std::vector<ValueId> GroupMaker::copied_results(const std::vector<OperationId>& operations) const {
  std::vector<ValueId> copied;
  for (OperationId o : operations)
    for (ValueId v : graph_[o].results) {
      bool last = copies_.count(v) && uses_.writers[v.index()].back() == o;
      if (last && escapes(v, operations)) copied.push_back(v);
    }
  return copied;
}

Operator GroupMaker::last_of(std::vector<OperationId> operations) const {
  std::sort(operations.begin(), operations.end());
  const std::vector<ValueId> copied = copied_results(operations);
  return copied.empty() ? with_author_names(program_, graph_[operations.back()])
                        : (*with_copies_)[copies_.at(copied.back())];
}

bool GroupMaker::escapes(ValueId value, const std::vector<OperationId>& operations) const {
  const auto& readers = uses_.readers[value.index()];
  auto inside = [&](OperationId o) { return std::binary_search(operations.begin(), operations.end(), o); };
  auto unread = [&](ValueId v) { return uses_.readers[v.index()].empty() && !is_output(v); };
  if (!unread(value)) return is_output(value) || !std::all_of(readers.begin(), readers.end(), inside);
  return std::any_of(uses_.writers[value.index()].begin(), uses_.writers[value.index()].end(), [&](OperationId o) {
    return std::all_of(graph_[o].results.begin(), graph_[o].results.end(), unread);
  });
}

GroupOutcome GroupMaker::make(std::vector<OperationId> operations, const std::vector<std::uint32_t>& over) const {
  try {
    Maker maker(*this, std::move(operations));
    maker.check_members();
    maker.make_inner_graph();
    return maker.make(over);
  } catch (const Declined& declined) { return declined.refusal; }
}

GroupOutcome GroupMaker::make(std::vector<OperationId> operations, const RecomputeLimit& limit) const {
  std::vector<std::uint32_t> over = all_dims(last_of(operations));
  try {
    Maker maker(*this, std::move(operations));
    maker.check_members();
    maker.make_inner_graph();
    for (;;) {
      std::optional<std::uint32_t> removed;
      try {
        MadeGroup made = maker.make(over);
        removed = maker.repeating(limit);
        if (!removed) removed = maker.idle_stream();
        if (!removed) return made;
      } catch (const Declined& declined) {
        removed = declined.refusal.dim;
        if (!removed) throw;
      }
      over.erase(std::remove(over.begin(), over.end(), *removed), over.end());
    }
  } catch (const Declined& declined) { return declined.refusal; }
}

}  // namespace tap::passes
