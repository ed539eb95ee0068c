// A hash of the reference of a kernel's self-check, as part of its name in the cache: by structure, so that names and
// the numbers of monoids and graphs have no effect.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/trial/self_check.h"
#include "ir/graph.h"
#include "ir/hash.h"

namespace tap::backend {

using namespace ir;

namespace {

std::size_t hash_of_monoid(const Monoid& monoid) {
  std::size_t h = monoid.components.size();
  for (const auto* roots : {&monoid.identity, &monoid.combine})
    for (CellId root : *roots) {
      for (CellId id : reachable_from(monoid.exprs, {root})) h = hash_combine(h, hash_of(monoid.exprs[id]));
      h = hash_combine(h, root.index());
    }
  return h;
}

std::string text_of_operator(const Program& program, const Operator& op) {
  Operator bare = op;
  std::string text;
  if (auto* reduce = std::get_if<ReduceBody>(&bare.body)) {
    text = fmt::format("{:x} ", hash_of_monoid(program[reduce->monoid]));
    reduce->monoid = MonoidId(0);
  }
  if (auto* region = std::get_if<RegionBody>(&bare.body)) {
    const Graph& graph = program[region->graph];
    region->graph = GraphId(0);
    auto numbers = [](const std::vector<ValueId>& values) {
      std::vector<std::size_t> result;
      for (ValueId v : values) result.push_back(v.index());
      return fmt::format("{}", fmt::join(result, ","));
    };
    for (const Operation& operation : graph.operations)
      text += fmt::format("({}) = {} ({});", numbers(operation.results),
                          text_of_operator(program, program[operation.op]), numbers(operation.operands));
    text += fmt::format("({}) -> ({}) ", numbers(graph.inputs), numbers(graph.outputs));
  }
  return text + fmt::format("{:x}", structural_hash(bare));
}

}  // namespace

std::string self_check_key(const Program& program, const KernelSource& source, const SelfCheckOptions& options) {
  std::string text =
      fmt::format("tried 1 {} {} {}", options.budget.points, options.budget.most, text_of_operator(program, source.op));
  for (const PreparedOperand& p : source.prepared)
    text += fmt::format(" {}: {}", p.operand, text_of_operator(program, p.map));
  return text;
}

}  // namespace tap::backend
