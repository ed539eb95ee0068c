#include "compiler/pipeline/decided_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "cost/machine/host.h"
#include "ir/text/plan_text.h"
#include "support/phase.h"
#include "support/spare_threads.h"

namespace tap::pipeline {
namespace {

constexpr std::size_t evaluations_without_limit = std::size_t{1} << 30;

// Everything that a decision depends on. Empty if that cannot be expressed: rewrite rules have no text of their own,
// and a time limit depends on the load of the machine.
std::string key_of(const ir::Program& program, const passes::PassContext& context, const Deciding& by) {
  if (by.store == nullptr || by.seconds || context.rules) return "";
  return fmt::format("threads {}, evaluations {}, flags {}{}{}{}{}\n{}\n{}\n{}\n{}", by.threads, by.evaluations,
                     int{context.strict_fp}, int{context.require_proof}, int{context.no_distribute},
                     int{context.no_implicit_reshard}, int{context.fast_reduce}, by.machine, ir::print(context.plan),
                     ir::print(by.start), ir::print(program));
}

std::optional<ir::Plan> known_plan(const std::string& key, const Deciding& by) {
  if (key.empty()) return std::nullopt;
  const auto text = by.store->find(key);
  if (!text) return std::nullopt;
  auto parsed = ir::parse_plan_text(*text);
  if (auto* plan = std::get_if<ir::PlanText>(&parsed)) return std::move(plan->plan);
  return std::nullopt;
}

}  // namespace

cost::Decided decided_plan(const ir::Program& program, const passes::PassContext& context,
                           std::span<const passes::Pass> simplify, const Deciding& by) {
  Phase phase("deciding");
  const std::string key = key_of(program, context, by);
  if (auto known = known_plan(key, by)) return {std::move(*known)};
  const std::size_t evaluations = by.seconds ? evaluations_without_limit : by.evaluations;
  constexpr std::int64_t most = 8;  // threads: more programs are rarely priced at a time
  SpareThreads spare(static_cast<std::size_t>(std::min(cost::usable_threads(), most) - 1));
  cost::Decided decided =
      cost::decide(program, {context, simplify, by.cluster, by.threads, evaluations, by.seconds, &spare, by.start});
  // With a budget at least 1: 0 decides nothing, not even what takes no evaluation.
  const std::size_t counted = by.seconds ? std::max<std::size_t>(decided.evaluations, 1) : by.evaluations;
  decided.plan.evaluations = static_cast<std::int64_t>(counted);
  if (!key.empty()) by.store->store(key, ir::print(decided.plan));
  return decided;
}

}  // namespace tap::pipeline
