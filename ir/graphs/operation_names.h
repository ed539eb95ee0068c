// Names of operations for messages and plans: the value that one writes, with a number if several operations write
// it.
//
//   H    the only writer of H     Y@1    the second writer of Y     u/v2    in the body of the operation that writes u
//
// An operation that writes several values is named after the first, and is also found by the names of the others.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

struct OperationInGraph {  // an operation of one graph of a program
  GraphId graph;
  OperationId operation;
  bool operator==(const OperationInGraph&) const = default;
};

// The names of one graph's operations; "" for one without results.
std::vector<std::string> operation_names(const Graph& graph);

// Graphs that main reaches through regions, with the path in their operations' names: "" for main, "u/" for the body of
// u. A graph that two operations share has its first path.
std::vector<std::pair<GraphId, std::string>> graph_paths(const Program& program);

// Finds operations by their names; paths start in `graph`. Uses an index.
class OperationFinder {
 public:
  explicit OperationFinder(const Program& program) : program_(program) {}
  std::optional<OperationInGraph> find(GraphId graph, std::string_view name);

 private:
  const Program& program_;
  std::map<GraphId, std::map<std::string, OperationId, std::less<>>> by_name_;
};

// The operation that splits turn into this one, which combines partials of partials: H of H.partial.partial.
std::string_view before_partials(std::string_view name);

// The dim with this name. `#2` is dim number 2, for a name that is missing or not unique.
std::optional<std::uint32_t> find_dim(const Operator& op, std::string_view name);

}  // namespace tap::ir
