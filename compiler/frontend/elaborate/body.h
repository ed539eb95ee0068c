// Turns the body of a program, an operator or an iterate into a Graph: statements in order, locals by name, calls
// kept.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "compiler/frontend/elaborate/elaboration.h"
#include "compiler/frontend/elaborate/frame.h"
#include "ir/graph.h"
#include "ir/shardings/sharding.h"

namespace tap {

class BodyBuilder {
 public:
  BodyBuilder(Elaboration& elaboration, std::string name, BodyBuilder* outer = nullptr)
      : elaboration_(elaboration), outer_(outer) {
    graph_.name = std::move(name);
  }

  Env& env() { return env_; }
  ir::Graph& graph() { return graph_; }
  ir::Graph take_graph();  // once everything is built
  std::uint32_t counter_depth() const { return counter_depth_; }

  ir::ValueId add_value(std::string name, ir::TensorType type, Span span);
  // The value of a tensor in this graph; one from an outer body is captured as an input.
  ir::ValueId local_value(const TensorEntity& tensor);
  void add_operation(Frame::Finished finished, ir::Body body, std::vector<ir::ValueId> results, Span span);
  void count_operations(ir::OperatorId op, Span span);
  void add_operation(ir::OperatorId op, std::vector<ir::ValueId> operands, std::vector<ir::ValueId> results, Span span,
                     std::optional<ir::OperationNames> names = std::nullopt);

  void declare_input(const ast::Name& name, ir::TensorType type, std::vector<PatternItem> pattern, bool is_const);
  void declare_result(const ast::Name& name, ir::TensorType type, std::vector<PatternItem> pattern);
  // Names a program's results: a value that becomes a result takes its name.
  void name_results() { names_results_ = true; }
  void declare_sharding(const ast::TensorParam& tensor);  // the sharding in its declaration, if any
  // All statements; then every result must have been written. Errors are reported per statement.
  void build(const std::vector<ast::Statement>& statements);
  void finish_results(const std::vector<ast::TensorParam>& results);

  // Shardings, groups, barriers and splits, once all values exist.
  void annotate(const std::vector<ast::TensorParam>& inputs, const std::vector<ast::TensorParam>& results,
                const std::vector<ast::Statement>& statements);

  struct Bound {  // a whole tensor, the value of an expression
    ir::ValueId value;
    ir::TensorType type;
  };
  std::vector<Bound> whole(ast::ExprId expr, const std::vector<std::string>& names);

 private:
  // The name of a call within an expression: Y.linear in Y = relu(linear(X, W, b)).
  std::string name_within_statement(const std::string& callee) const;

  friend class EquationBuilder;

  struct Result {
    ast::Name name;
    ir::ValueId value;
    bool bound = false;
  };
  // An equation whose result shape depends on other equations that write the same value.
  struct Pending {
    Frame::Finished finished;
    ir::Body body;
    std::vector<ir::ValueId> results;
    Span span;
  };
  // A name that equations of this body write.
  struct Target {
    std::vector<std::size_t> writers;  // statements
    std::size_t done = 0;
    ir::ValueId value;
    bool declared = false;
    bool has_shape = false;
    std::vector<PatternItem> pattern;  // of the first left side
    bool poisoned = false;
    std::vector<std::pair<ir::OperationId, std::uint32_t>> writes;
    std::vector<Span> write_spans;
  };

  void scan_targets(const std::vector<ast::Statement>& statements);
  void equation(const ast::Equation& equation, Span span);
  void binding(const ast::Binding& binding, Span span);
  void complete(const std::string& name);
  void flush_pending();
  void poison(const ast::Statement& statement);
  void bind_name(const ast::Name& name, const Bound& bound);
  void define_result(const std::string& name, ir::ValueId value);
  void check_binder(const ast::Name& name);
  void check_undeclared(const ast::Name& name);
  // body_order.cpp
  const std::vector<std::size_t>* definers(const std::string& name) const;
  bool path_to_current(std::size_t from, std::vector<std::size_t>& statements, std::vector<std::string>& names) const;
  void use_before_definition(const ast::Statement& statement);
  void report_redefinition(const ast::Statement& statement, const std::string& name,
                           const std::vector<std::size_t>& by);

  std::vector<Bound> call(const ast::Call& call, ast::ExprId id, const std::vector<std::string>& names);
  std::vector<Bound> map_call(const ast::Call& call, ast::ExprId id, const std::string& name);
  const Definition& callee_of(const ast::Call& call, Span span);
  std::vector<std::optional<Bound>> tensors_of_one_shape(const ast::Call& call, std::size_t arity, Span span);
  Bound one_tensor(ast::ExprId id, const std::vector<std::string>& names, const std::string& expectation);
  // body_iterate.cpp
  std::vector<Bound> iterate(const ast::Iterate& iterate, ast::ExprId id, const std::vector<std::string>& names);
  ir::Range trips_of(const ast::Iterate& node);
  void build_trip(const ast::Iterate& node, const std::vector<Bound>& states);
  [[noreturn]] void literal_for(ast::ExprId id);
  Bound literal_tensor(ast::ExprId id, const ir::TensorType& type);
  // body_arithmetic.cpp
  [[noreturn]] void arithmetic_on_tensors(ast::ExprId id);
  std::string free_name(std::initializer_list<const char*> choices) const;
  struct CellText;  // an expression over whole tensors, rewritten as one over their cells
  bool read_cells(ast::ExprId id, CellText& text);
  bool is_literal(ast::ExprId id) const;
  void annotate_arguments(const ast::Call& call, const std::vector<std::optional<ir::ValueId>>& values);
  const ast::Sharding* sharding_written_for(const std::string& name) const;
  Bound resharded(const ast::Name& name, Bound source, Span span);
  Bound copy(const ast::Name& name, Bound source, Span span);
  Bound named_result(const ast::Name& name, Bound source, Span span);
  void group_values(const ast::GroupStatement& group);
  ir::ValueId annotated_value(const ast::Name& name);
  // splits.cpp
  void request_split(const ast::SplitStatement& split, Span span);
  ir::OperationId instance_named(const std::string& instance, Span span);
  ir::SplitRequest split_target(const ast::SplitStatement& split, const std::string& what);
  std::vector<ir::Range> split_blocks(const ast::SplitStatement& split, ir::Range range, const std::string& what,
                                      Span span);
  ir::OperationId sole_writer(ir::ValueId value, const ast::Name& name);
  void split_over_axis(const ast::SplitStatement& split, ir::SplitRequest& request);
  ir::Range split_range(const ir::Operation& operation, const ast::Name& dim, const std::string& what);

  Elaboration& elaboration_;
  BodyBuilder* outer_;
  Env env_;
  ir::Graph graph_;
  GraphProvenance provenance_;
  std::size_t written_out_ = 0;  // operations so far, if all calls are inlined
  std::uint32_t counter_depth_ = 0;
  std::map<ir::ValueId, ir::ValueId> captured_;  // outer value → input here
  std::vector<ir::ValueId> captures_;            // outer values, in order
  std::vector<Result> results_;
  std::unordered_map<std::string, std::size_t> result_at_;
  std::unordered_map<std::string, Target> targets_;
  std::unordered_map<std::string, std::vector<std::size_t>> binders_;  // whole-tensor bindings by name
  std::vector<Pending> pending_;
  const std::vector<ast::Statement>* statements_ = nullptr;
  std::size_t current_ = 0;
  std::set<std::size_t> in_cycle_;  // statements that depend on themselves; already reported
  std::unordered_map<std::string, std::size_t> instance_count_;  // operator#n
  std::vector<std::pair<std::string, ir::OperationId>> instances_;
  bool names_results_ = false;
  std::unordered_map<std::string, const ast::Sharding*> declared_shardings_;  // of inputs and results
  std::map<ir::ValueId, const ast::Sharding*> claimed_;                       // by the first name with a sharding

 public:
  GraphProvenance& provenance() { return provenance_; }
};

// The specialised operator for a call with these arguments.
Instance instantiate(Elaboration& elaboration, const Definition& definition, const Env& caller,
                     const std::vector<ast::ParamArg>& params, const std::vector<struct TypedArgument>& given,
                     Span call_span);

}  // namespace tap
