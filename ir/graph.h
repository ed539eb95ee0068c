// The block-operation graph: values and the operations that write them. A Program is the unit that prints, parses and
// compares: tables of monoids, operators and graphs that refer to each other by id.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/author_names.h"
#include "ir/graph_ids.h"
#include "ir/operator.h"
#include "ir/placement.h"
#include "ir/shardings/sharding.h"

namespace tap::ir {

struct Value {
  std::string name;  // for people
  TensorType type;
  bool is_const = false;  // a program's `const` input: the same for all runs, may be packed in advance
  std::optional<Sharding> sharding;
  bool operator==(const Value&) const = default;
};

struct Operation {
  OperatorId op;
  std::vector<ValueId> operands;
  std::vector<ValueId> results;  // a value has one or more writers; their write images partition it
  std::vector<std::optional<Sharding>> operand_shardings;  // X @ pod[…]: for this use only; empty if no operand has one
  std::vector<BlockPlacement> placements = {};             // by block dim, in order; those without one are unspecified
  std::optional<OperationNames> names = std::nullopt;      // for people; none if they are the operator's
  bool operator==(const Operation&) const = default;
};

struct Barrier {
  ValueId value;
  BarrierKind kind = BarrierKind::both;
  bool operator==(const Barrier&) const = default;
};
struct ShardingGroup {
  std::vector<ValueId> values;
  bool operator==(const ShardingGroup&) const = default;
};
// A split that the user asked for, of an operation's index dim: given by an axis of a value that it writes or by the
// name of the index variable (for a call: in the operations inside it). The blocks tile the range in order.
struct SplitRequest {
  OperationId operation;
  std::optional<ValueId> value;
  std::uint32_t axis = 0;  // with `value`
  std::string dim;         // without
  std::vector<Range> blocks;
  Placement placement = Placement::unspecified;
  MeshId mesh;  // with mesh_axis
  std::optional<AxisRef> mesh_axis;
  bool operator==(const SplitRequest&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Operation> operations;  // every value is written before it is read
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<ShardingGroup> groups;
  std::vector<Barrier> barriers;
  std::vector<SplitRequest> splits;

  const Value& operator[](ValueId id) const { return values[id.index()]; }
  const Operation& operator[](OperationId id) const { return operations[id.index()]; }
  bool operator==(const Graph&) const = default;
};

// A rewrite rule as written; later passes match and apply it.
struct RewriteRule {
  std::string text;  // canonical source
  bool operator==(const RewriteRule&) const = default;
};

struct Program {
  std::vector<Monoid> monoids;
  std::vector<Operator> operators;
  std::vector<Graph> graphs;
  std::vector<Mesh> meshes;
  std::vector<RewriteRule> rewrites;
  GraphId main;

  const Monoid& operator[](MonoidId id) const { return monoids[id.index()]; }
  const Operator& operator[](OperatorId id) const { return operators[id.index()]; }
  const Graph& operator[](GraphId id) const { return graphs[id.index()]; }
  const Mesh& operator[](MeshId id) const { return meshes[id.index()]; }
  bool operator==(const Program&) const = default;
};

// Adds operators and monoids to a program's tables, without duplicates. Operators of equal structure keep the names of
// the first.
class Interner {
 public:
  explicit Interner(Program& program);
  OperatorId add(Operator op);
  void assign(Operation& operation, Operator op);  // also the names, if the shared operator's differ
  MonoidId add(Monoid monoid);

 private:
  Program& program_;
  std::unordered_multimap<std::size_t, OperatorId> operators_;
};

}  // namespace tap::ir
