#include "passes/split.h"

#include "passes/split_reduction.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

bool can_split(const Program& program, const Operator& op, std::uint32_t dim) {
  const IndexDim& d = op.dims[dim];
  if (d.keep || d.role == DimRole::counter || op.kernel() || op.region()) return false;
  if (d.role == DimRole::parallel) return true;
  for (std::uint32_t outer = 0; outer < dim; ++outer)
    if (op.dims[outer].role == DimRole::reduction) {
      Law commutative = program[op.reduce()->monoid].laws.commutative;
      return commutative == Law::proved || commutative == Law::assumed;
    }
  return true;
}

namespace {

class Splitter {
 public:
  explicit Splitter(Program& program) : program_(program), interner_(program) {}

  BlockGraph run(GraphId id, const std::vector<SplitChoice>& choices) {
    const Graph& graph = program_[id];
    result_ = {};
    result_.name = graph.name;
    result_.values = graph.values;
    result_.inputs = graph.inputs;
    result_.outputs = graph.outputs;
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      std::vector<SplitChoice> own;
      for (const SplitChoice& c : choices)
        if (c.graph == id && c.operation.index() == o) own.push_back(c);
      expand(graph.operations[o], own);
    }
    return std::move(result_);
  }

 private:
  void expand(const Operation& operation, const std::vector<SplitChoice>& choices) {
    std::vector<BlockSplit> parallel;
    const SplitChoice* reduction = nullptr;
    for (const SplitChoice& choice : choices) {
      TAP_CHECK(can_split(program_, program_[operation.op], choice.dim), "a dim that may not be cut is cut");
      bool reduces = program_[operation.op].dims[choice.dim].role == DimRole::reduction;
      TAP_CHECK(!reduces || !reduction, "two reduction dims of one operation are cut");
      if (reduces) {
        reduction = &choice;
      } else {
        parallel.push_back({choice.dim, choice.blocks, choice.placement, {}, {}});
      }
    }
    if (reduction) {
      expand_reduction(operation, *reduction, parallel);
    } else {
      apply(operation.op, operation.operands, operation.results, parallel);
    }
  }

  void expand_reduction(const Operation& operation, const SplitChoice& choice, std::vector<BlockSplit> splits) {
    const Operator op = program_[operation.op];
    SplitReduction parts = split_reduction(program_, op, static_cast<std::int64_t>(choice.blocks.size()));
    std::vector<ValueId> partials;
    for (std::size_t w = 0; w < parts.partial.results.size(); ++w) {
      ValueId of = operation.results[op.writes[w].tensor];
      partials.push_back(ValueId{result_.values.size()});
      result_.values.push_back({result_[of].name + ".partial", parts.partial.results[w], false, {}});
    }
    std::vector<BlockSplit> combination;
    for (const BlockSplit& s : splits) {
      combination.push_back(s);
      combination.back().dim = parts.dim_in_combination[s.dim];
    }
    splits.push_back({choice.dim, choice.blocks, choice.placement, {}, parts.block_dim});
    apply(interner_.add(parts.partial), operation.operands, partials, splits);
    apply(interner_.add(parts.combination), partials, operation.results, combination);
  }

  void apply(OperatorId op, std::vector<ValueId> operands, std::vector<ValueId> results,
             std::vector<BlockSplit> splits) {
    auto applications = applications_of(program_[op], splits);
    result_.operations.push_back(
        {op, std::move(operands), std::move(results), std::move(splits), std::move(applications)});
  }

  Program& program_;
  Interner interner_;
  BlockGraph result_;
};

}  // namespace

BlockProgram split(const Program& program, const std::vector<SplitChoice>& choices) {
  BlockProgram result{program, {}};
  Splitter splitter(result.program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g) result.graphs.push_back(splitter.run(GraphId{g}, choices));
  return result;
}

}  // namespace tap::passes
