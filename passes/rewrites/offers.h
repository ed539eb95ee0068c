// Internal to offer_choices: the offers of one rule at one place of a graph, and the graphs that make up a choice.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/certificate.h"
#include "ir/graphs/graph_algorithms.h"
#include "passes/rewrites/canonical.h"

namespace tap::passes {

struct Match;  // passes/rewrites/match_rules.h

using Operations = std::set<ir::OperationId>;

// Operations of a graph, and a graph of a separate program that can replace them.
struct Offer {
  Operations operations;
  std::vector<ir::ValueId> inputs;   // by input of the replacement
  std::vector<ir::ValueId> results;  // by output of the replacement
  std::shared_ptr<const ir::Program> program;
  ir::GraphId graph;
  std::string rule;
  // Why it is equal: for a product or a fold, a justification of each of its operations (from operation 0 of the
  // replaced graph); for a rule, the match.
  std::vector<ir::Justification> why = {};
  std::shared_ptr<const Match> match = {};
};

// The inputs and results of a set of operations.
struct Boundary {
  std::vector<ir::ValueId> inputs, results;  // in the order of their ids
};

// Facts about one graph, so that questions about a few of its operations need not traverse all of it.
class Surroundings {
 public:
  Surroundings(const ir::Program& program, const ir::Graph& graph);

  // Unique names of values; an operation is named after the first value that it writes.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name_of(ir::OperationId operation) const;
  Boundary boundary_of(const Operations& operations) const;
  // Why the operations cannot be replaced by one, in a sentence; empty if they can.
  std::string why_not_offered(const Offer& offer) const;

 private:
  bool is_read_outside(ir::ValueId value, const Operations& operations) const;
  std::string why_not_together(const Operations& operations) const;

  const ir::Program& program_;
  const ir::Graph& graph_;
  std::vector<std::string> names_;
  ir::DefUse uses_;
  std::vector<bool> is_output_, annotated_;  // by value
  std::vector<bool> bound_;                  // by operation: bound to transfers
  std::vector<bool> split_;                  // by operation
};

// Adds graphs to a program without changing its existing graphs.
class GraphAdder {
 public:
  explicit GraphAdder(ir::Program& program) : program_(program), interner_(program) {}

  ir::OperatorId add(ir::Operator op) { return interner_.add(std::move(op)); }
  // A graph of only these operations. `names`: by value of the graph.
  ir::GraphId add_part(const ir::Graph& graph, const Operations& operations, const Boundary& boundary,
                       const std::vector<std::string>& names);
  // The offered graph, with the boundary's inputs and results, and the correspondence of its parts to the offer's.
  struct Added {
    ir::GraphId graph;
    std::vector<std::optional<ir::ValueId>> values;          // by its value: that of the offer
    std::vector<std::optional<ir::OperationId>> operations;  // none: it copies its operand
  };
  Added add_offer(const Offer& offer, const Boundary& boundary, const std::string& name);
  ir::GraphId import(const ir::Program& from, ir::GraphId graph);

  const ir::Graph& operator[](ir::GraphId id) const { return added_[id.index() - program_.graphs.size()]; }
  std::vector<ir::Graph> take() { return std::move(added_); }

 private:
  ir::GraphId add(ir::Graph graph);
  ir::OperatorId import(const ir::Program& from, ir::OperatorId op);
  ir::MonoidId import(const ir::Program& from, ir::MonoidId monoid);

  ir::Program& program_;
  ir::Interner interner_;
  std::vector<ir::Graph> added_;
};

// The canonical forms of one program's operators on their operands, each computed once: 100,000 equal choices have
// equal graphs.
class OperatorForms {
 public:
  explicit OperatorForms(const ir::Program& program) : program_(program) {}
  const ir::Program& program() const { return program_; }
  const CanonicalForm& of(ir::OperatorId op, const std::vector<std::int64_t>& labels);

 private:
  const ir::Program& program_;
  std::map<std::pair<ir::OperatorId, std::vector<std::int64_t>>, CanonicalForm> known_;
};

// Numbers for what graphs compute: equal for graphs that perform the same operations. A choice has the number of its
// original.
class GraphNumbers {
 public:
  using Numbers = std::vector<std::int64_t>;
  Numbers of(OperatorForms& forms, const ir::Graph& graph);

 private:
  Numbers outputs(OperatorForms& forms, const ir::Graph& graph, const Numbers& inputs);
  std::int64_t number(const Numbers& code) {
    return numbers_.emplace(code, static_cast<std::int64_t>(numbers_.size())).first->second;
  }
  std::map<Numbers, std::int64_t> numbers_;
};

}  // namespace tap::passes
