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

// Operations of a graph that another graph, of a program of its own, can stand for.
struct Offer {
  Operations operations;
  std::vector<ir::ValueId> inputs;   // by input of the other graph
  std::vector<ir::ValueId> results;  // by output of it
  std::shared_ptr<const ir::Program> program;
  ir::GraphId graph;
  std::string rule;
  // Why it computes the same: of a product or a fold for each of its operations (of operation 0 of what it replaces), of a rule
  // by the match.
  std::vector<ir::Justification> why = {};
  std::shared_ptr<const Match> match = {};
};

// A set of operations seen from outside.
struct Boundary {
  std::vector<ir::ValueId> inputs, results;  // in the order of their ids
};

// Facts about one graph that each question about a few of its operations can use without going through all of it.
class Surroundings {
 public:
  Surroundings(const ir::Program& program, const ir::Graph& graph);

  // What values are called where each name is given once; and an operation by the first value that it writes.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& name_of(ir::OperationId operation) const;
  Boundary boundary_of(const Operations& operations) const;
  // Why the operations cannot become one, in a sentence; empty if they can.
  std::string why_not_offered(const Offer& offer) const;

 private:
  bool is_read_outside(ir::ValueId value, const Operations& operations) const;
  std::string why_not_together(const Operations& operations) const;

  const ir::Program& program_;
  const ir::Graph& graph_;
  std::vector<std::string> names_;
  ir::DefUse uses_;
  std::vector<bool> is_output_, annotated_;  // by value
  std::vector<bool> bound_;                  // by operation: to transfers
  std::vector<bool> split_;                  // by operation
};

// Graphs to be added to a program, whose own graphs stay as they are meanwhile.
class GraphAdder {
 public:
  explicit GraphAdder(ir::Program& program) : program_(program), interner_(program) {}

  ir::OperatorId add(ir::Operator op) { return interner_.add(std::move(op)); }
  // These operations alone. `names`: by value of the graph.
  ir::GraphId add_part(const ir::Graph& graph, const Operations& operations, const Boundary& boundary,
                       const std::vector<std::string>& names);
  // What is offered, with the boundary's inputs and results; and what of it is what of the offer.
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

// The canonical forms of one program's operators on what they are applied to, each made once: of 100,000 alike choices the
// graphs are alike.
class OperatorForms {
 public:
  explicit OperatorForms(const ir::Program& program) : program_(program) {}
  const ir::Program& program() const { return program_; }
  const CanonicalForm& of(ir::OperatorId op, const std::vector<std::int64_t>& labels);

 private:
  const ir::Program& program_;
  std::map<std::pair<ir::OperatorId, std::vector<std::int64_t>>, CanonicalForm> known_;
};

// What a graph computes, as numbers: equal for graphs that compute the same by the same operations. A choice computes what
// was written.
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
