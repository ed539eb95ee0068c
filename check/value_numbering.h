// Value numbering: a value of an inner graph is traced to its source through the regions of operations, the
// alternatives of choices and the trips of iterates; operations that compute the same are merged. Every value gets a
// class; values of one class are equal.
#pragma once

#include <limits>
#include <map>
#include <set>

#include "ir/certificate.h"
#include "ir/graph.h"

namespace tap::check {

using Class = std::uint32_t;

// An unspecified trip of an iterate: the state that it reads is not a value of the program. Different numbers are
// different trips.
constexpr std::int64_t unknown_trip(std::int64_t number) { return std::numeric_limits<std::int64_t>::min() + number; }
constexpr bool is_unknown_trip(std::int64_t step) { return step < unknown_trip(std::int64_t{1} << 40); }

// An operation with its operator and the classes of its values.
struct Side {
  const ir::Program* program = nullptr;
  const ir::Operation* operation = nullptr;
  const ir::Operator* op = nullptr;
  std::vector<Class> operands = {}, results = {};
};

template <class ClassOf>
Side side_of(const ir::Program& program, const ir::Operation& operation, ClassOf class_of) {
  Side side{&program, &operation, &program[operation.op]};
  for (ir::ValueId v : operation.operands) side.operands.push_back(class_of(v));
  for (ir::ValueId v : operation.results) side.results.push_back(class_of(v));
  return side;
}

// By value: the operations that write it, in order, and the number of the result; or those that read it, and the number of
// the operand.
using Uses = std::vector<std::vector<std::pair<ir::OperationId, std::size_t>>>;
Uses uses_of(const ir::Graph& graph, std::vector<ir::ValueId> ir::Operation::*list);
inline Uses writers_of(const ir::Graph& graph) { return uses_of(graph, &ir::Operation::results); }
inline Uses readers_of(const ir::Graph& graph) { return uses_of(graph, &ir::Operation::operands); }

class ValueNumbering {
 public:
  // Throws Refusal if the claim names something that does not exist. With `through_transfers`, a transfer's result is
  // equal to its operand.
  ValueNumbering(const ir::Program& program, const ir::GraphClaim& claim, bool through_transfers = false);

  Class class_of(const ir::ValueRef& ref);
  // In these trips of the iterates on the path, outermost first.
  Class class_of(const ir::Path& path, ir::ValueId value, const std::vector<std::int64_t>& steps);
  Side side(const ir::OperationRef& ref, const std::vector<std::int64_t>& steps);
  Class fresh();  // of a new value
  void merge(Class a, Class b) { parent_[find(a)] = find(b); }
  bool same(Class a, Class b) const { return find(a) == find(b); }
  Class find(Class c) const;

  const ir::Value& value(const ir::ValueRef& ref) const;
  const ir::Operation& operation(const ir::OperationRef& ref) const;
  Side side(const ir::OperationRef& ref, std::optional<std::int64_t> step = {});
  const ir::Graph& graph(const ir::Path& path) const;
  const Uses::value_type& writers(const ir::Path& path, ir::ValueId value) const {
    return writers_in(graph(path))[value.index()];
  }

  const Uses& writers_in(const ir::Graph& graph) const;

  std::set<std::string> rules;  // of the choices' alternatives that claims refer to

 private:
  struct At {  // one step of a path; in a claim for several trips, an invalid operation leads to the body
    ir::OperationId operation;
    std::uint32_t alternative = 0;
    std::int64_t step = 0;
    auto operator<=>(const At&) const = default;
  };
  using Trail = std::vector<At>;

  Trail trail(const ir::Path& path) const;
  Trail trail(const ir::Path& path, std::optional<std::int64_t> step) const;
  Class class_of(Trail trail, ir::ValueId value);
  static Trail without_steps(const Trail& trail);
  const ir::Graph& graph_at(const Trail& trail, std::size_t steps) const;  // after this many steps of the trail
  const ir::RegionBody* region_of(const Trail& trail, std::size_t k) const;
  void look_ahead(const ir::Path& path, bool stepped);
  bool follow_input(Trail& trail, ir::ValueId& value) const;
  bool follow_result(Trail& trail, ir::ValueId& value) const;
  bool follow_transfer(const Trail& trail, ir::ValueId& value) const;

  const ir::Program& program_;
  const ir::GraphClaim& claim_;
  const bool through_transfers_;
  std::map<std::pair<Trail, ir::ValueId>, Class> known_;
  mutable std::vector<Class> parent_;
  mutable std::map<const ir::Graph*, Uses> writers_;  // never iterated over
  std::map<Trail, std::uint32_t> chosen_;             // choices that were picked
  std::set<Trail> unrolled_;                          // unrolled iterates
};

}  // namespace tap::check
