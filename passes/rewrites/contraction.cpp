#include "passes/rewrites/contraction.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/caution.h"
#include "passes/rewrites/contraction_graph.h"
#include "passes/rewrites/semiring.h"
#include "passes/simplify/cell_facts.h"
#include "support/check.h"

namespace tap::passes {

using namespace ir;

namespace {

constexpr std::string_view order_rule_start = "product in the order ";

constexpr std::size_t most_factors = 64;

// The factors of a product, in order. Cells may be shared, so there can be more factors than cells: returns only some
// of too many.
std::vector<CellId> factors_of(const Operator& op, CellId product) {
  const CellOp times = op.exprs[product].op;
  std::vector<CellId> open{product}, factors;
  while (!open.empty() && open.size() + factors.size() <= most_factors + 1) {
    CellId id = open.back();
    open.pop_back();
    const CellNode& node = op.exprs[id];
    if (node.op == times) open.insert(open.end(), node.args.rbegin(), node.args.rend());
    else factors.push_back(id);
  }
  factors.insert(factors.end(), open.rbegin(), open.rend());
  return factors;
}

// The question for one operator, or why there is none.
struct Question {
  ContractionProblem problem;
  std::vector<CellId> factors;
  CellOp times = CellOp::mul;
  std::string law = "a * (b * c) = (a * b) * c";  // for a reduction: that it distributes
  std::string why_not;
};

Multiplicand factor_of(const Operator& op, CellId root, std::string& why_not) {
  Multiplicand factor;
  if (may_fail(op, {root})) why_not = "one of its factors can fail and would be evaluated at more points";
  for (CellId id : needed_cells(op, {root})) {
    const CellNode& node = op.exprs[id];
    if (node.op == CellOp::index) factor.dims |= std::uint64_t{1} << node.attribute;
    if (!node.args.empty()) factor.work += 1;
    if (node.op != CellOp::read) continue;
    for (const AffineExpr& row : op.reads[node.attribute].projection.start.rows)
      for (std::size_t d = 0; d < row.coefficients.size(); ++d)
        if (row.coefficients[d] != 0) factor.dims |= std::uint64_t{1} << d;
  }
  return factor;
}

template <class Distributes>
std::optional<Question> question_of(const Operator& op, bool strict_fp, Distributes law_of) {
  Question q;
  const ReduceBody* reduce = op.reduce();
  if ((!reduce && !op.map()) || op.writes.size() != 1 || op.results.size() != 1) return std::nullopt;
  const CellId cell = reduce ? reduce->operands[0] : op.map()->values[0];
  q.times = op.exprs[cell].op;
  if (!may_be_product(q.times)) return std::nullopt;
  // For a map nothing is distributed, but the product is computed in parts: only for multiplication, where it pays.
  if (!reduce && q.times != CellOp::mul) return std::nullopt;
  q.factors = factors_of(op, cell);
  if (q.factors.size() < 3) return std::nullopt;
  if (reduce) {
    const std::optional<std::string>& law = law_of(reduce->monoid, q.times);
    if (!law) return std::nullopt;
    q.law = *law;
  }
  const ElementType type = op.exprs[cell].type;
  if (op.dims.size() > 64 || q.factors.size() > most_factors) q.why_not = "it has more than 64 dims or factors";
  else if (strict_fp && is_float(type)) q.why_not = "--strict-fp keeps the written order of float operations";
  else if (!op.constraints.empty() || !op.blockings.empty()) q.why_not = "its dims depend on each other";
  else if (type == ElementType::f16 || type == ElementType::bf16)
    q.why_not = fmt::format("its intermediate results would be rounded to {}", name_of(type));
  else if (std::any_of(op.dims.begin(), op.dims.end(),
                       [](auto& d) { return d.role == DimRole::counter || d.range.lo != 0; }))
    q.why_not = "one of its dims does not start at 0";
  if (!q.why_not.empty()) return q;
  for (CellId f : q.factors) q.problem.factors.push_back(factor_of(op, f, q.why_not));
  std::uint64_t read = 0;
  for (const Multiplicand& f : q.problem.factors) read |= f.dims;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    q.problem.sizes.push_back(static_cast<double>(op.dims[d].range.size()));
    const std::uint64_t bit = std::uint64_t{1} << d;
    if (op.dims[d].role == DimRole::parallel) q.problem.kept |= bit;
    else if (!(read & bit)) q.problem.alone |= bit;
  }
  return q;
}

// Whether a different order of products gives the same bits: not for floats, which round and overflow, except max and
// min.
bool exact(CellOp times, ElementType type) { return !is_float(type) || times == CellOp::min || times == CellOp::max; }

std::string flops_text(double flops) {
  return flops < 1e15 ? fmt::format("{:.0f}", flops) : fmt::format("{:.3g}", flops);
}

}  // namespace

bool is_contraction_order(std::string_view rule) { return rule.starts_with(order_rule_start); }

Reassociation Reassociator::run(const Program& program, const Operator& op, bool strict_fp) {
  Reassociation result;
  auto law_of = [&](MonoidId plus, CellOp times) -> const std::optional<std::string>& {
    auto [known, fresh] = laws_.try_emplace({plus, times});
    if (fresh) known->second = distributes(program[plus], times);
    return known->second;
  };
  std::optional<Question> q = question_of(op, strict_fp, law_of);
  if (!q) return result;
  if (!q->why_not.empty()) {
    result.remark = "no other order of its product is offered: " + q->why_not;
    return result;
  }
  ContractionTree tree = contraction_order(q->problem);
  result.flops_before = flops_at_once(q->problem);
  result.flops_after = tree.flops;
  if (tree.flops >= result.flops_before) {
    if (op.map()) return result;  // a product of cells like any other
    result.remark = fmt::format("no other order of its product is offered, since none takes fewer than {} operations",
                                flops_text(result.flops_before));
    return result;
  }
  ContractionGraph graph = graph_of(program, op, {q->problem, q->factors, q->times}, tree);
  result.program = graph.program;
  result.dims = std::move(graph.dims);
  result.rule = fmt::format("{}{}: {} operations instead of {}, by {}", order_rule_start, graph.order,
                            flops_text(tree.flops), flops_text(result.flops_before), q->law);
  const bool finite = !exact(q->times, op.exprs[q->factors.front()].type);
  const Monoid* by = op.reduce() ? &program[op.reduce()->monoid] : nullptr;
  result.rule += by ? assumptions(by->name, {by->laws.associative, by->laws.identity, by->laws.commutative}, finite)
                    : assumptions("", {}, finite);
  return result;
}

const Reassociation& Reassociator::run(const Program& program, const Operation& operation, bool strict_fp) {
  auto [known, fresh] = answers_.try_emplace(operation.op);
  Answer& answer = known->second;
  std::vector<std::string> dims = operation.names ? operation.names->dims : std::vector<std::string>();
  const bool no_product = !fresh && !answer.is.program && answer.is.remark.empty();  // by whatever names
  if (fresh || (answer.dims != dims && !no_product))
    answer = {std::move(dims), run(program, with_author_names(program, operation), strict_fp)};
  return answer.is;
}

}  // namespace tap::passes
