#include "cost/decide/pricer.h"

#include <algorithm>
#include <cmath>

#include "backend/compiled_program.h"
#include "check/check.h"
#include "cost/decide/mesh_splits.h"
#include "cost/model/device_memory.h"
#include "cost/model/trace.h"
#include "ir/shardings/device_assignment.h"
#include "ir/tensor_bytes.h"
#include "ir/text.h"
#include "passes/pass_manager.h"
#include "passes/pass_table.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/splits/expand.h"

namespace tap::cost {

namespace {

constexpr double sure = 0.95;  // of the other score: beyond the inaccuracy of the model
constexpr double as_fast = 1.02;
constexpr double first_use = 1.5e-10;  // seconds a byte: the system maps and clears a page of fresh memory in 0.6 us
constexpr double noticed = 1 << 20;    // bytes: smaller differences are not worth a slower program
constexpr std::size_t operations_per_evaluation = 8;

}  // namespace

double score(const Prediction& p) {
  return p.seconds * (1 + 0.1 * std::log2(1 + std::max(p.bytes - noticed, 0.0) / (p.given + noticed)));
}

bool is_better(const Prediction& now, const Prediction& before) { return score(now) < sure * score(before); }

bool is_as_fast(const Prediction& now, const Prediction& before) {
  auto of_first_run = [](const Prediction& p) { return p.seconds + first_use * std::max(p.bytes - noticed, 0.0); };
  return of_first_run(now) <= as_fast * of_first_run(before);
}

Pricer::Pricer(Cluster cluster, std::int64_t threads, const passes::Caution& caution, const Budget& budget,
               SpareThreads* spare)
    : model_(std::move(cluster), threads), caution_(caution), spare_(spare), left_(budget.evaluations) {
  using std::chrono::steady_clock, std::chrono::duration, std::chrono::duration_cast;
  if (budget.seconds)
    end_ = steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(*budget.seconds));
}

namespace {

// Whether all of its values fit in memory addresses, which no stage has checked yet.
bool fits_in_addresses(const ir::Program& program) {
  constexpr double most = 1e15;
  double bytes = 0;
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Value& value : graph.values) bytes += ir::total_bytes(value.type);
  return bytes < most;
}

bool is_sharded(const ir::Program& program, const ir::Plan& plan) {
  return passes::has_shardings(program) || std::any_of(plan.decisions.begin(), plan.decisions.end(), is_over_mesh);
}

std::size_t evaluations_for(const ir::Program& program) {
  return 1 + program[program.main].operations.size() / operations_per_evaluation;
}

// Of the mesh on which the plan or a sharding of the program places something.
std::int64_t first_device(const ir::Program& program) {
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Operation& operation : graph.operations)
      if (const ir::Mesh* mesh = ir::mesh_of(program, operation); mesh && !mesh->devices.empty())
        return mesh->devices.front();
  return 0;
}

}  // namespace

std::size_t Pricer::set_aside(const ir::Program& program) {
  const std::size_t kept = std::min(left_, evaluations_for(program));
  left_ -= kept;
  return kept;
}

bool Pricer::is_out_of_time() const { return end_ && std::chrono::steady_clock::now() >= *end_; }

std::string Pricer::text_of(const ir::Program& program, const ir::Plan& plan) const {
  std::string text = ir::print(program);
  if (is_sharded(program, plan)) text += ir::print(plan);
  return text;
}

bool Pricer::may_price(const ir::Program& program, const ir::Plan& plan) const {
  return evaluations_for(program) <= left_ || known_.contains(text_of(program, plan));
}

void Pricer::prepare(const std::vector<Candidate>& candidates) {
  if (!spare_) return;
  std::vector<std::pair<std::string, const Candidate*>> fresh;
  std::size_t left = left_;
  for (const Candidate& candidate : candidates) {
    if (!fits_in_addresses(candidate.program)) continue;
    std::string text = text_of(candidate.program, candidate.plan);
    const std::size_t cost = evaluations_for(candidate.program);
    const bool is_known = known_.contains(text) || prepared_.contains(text) ||
                          std::ranges::any_of(fresh, [&](const auto& other) { return other.first == text; });
    if (is_known || cost > left) continue;
    left -= cost;
    fresh.emplace_back(std::move(text), &candidate);
  }
  if (fresh.size() < 2 || is_out_of_time()) return;
  std::vector<std::optional<Prediction>> prices(fresh.size());
  for_each_item(fresh.size(), spare_, [&]() -> WorkOnItem {
    return [&](std::size_t k) { prices[k] = priced(fresh[k].second->program, fresh[k].second->plan); };
  });
  for (std::size_t k = 0; k < fresh.size(); ++k) prepared_.emplace(std::move(fresh[k].first), std::move(prices[k]));
}

std::optional<Prediction> Pricer::of(const ir::Program& program, const ir::Plan& plan) {
  if (!fits_in_addresses(program)) return std::nullopt;
  std::string text = text_of(program, plan);
  if (auto known = known_.find(text); known != known_.end()) return known->second;
  const std::size_t cost = evaluations_for(program);
  // Out of time counts as an exhausted budget. The first evaluation takes any time: no number of evaluations says that there was
  // none, since 0 decides nothing.
  if (used_ > 0 && is_out_of_time()) left_ = 0;
  if (cost > left_) {
    refused_ = true;
    return std::nullopt;
  }
  left_ -= cost;
  used_ += cost;
  const auto prepared = prepared_.extract(text);
  auto price = prepared ? std::move(prepared.mapped()) : priced(program, plan);
  if (!price) return std::nullopt;
  known_.emplace(std::move(text), *price);
  return price;
}

std::optional<Prediction> Pricer::priced(const ir::Program& program, const ir::Plan& plan) {
  auto price = is_sharded(program, plan) ? on_device(program, plan) : on_all(program);
  if (!price) return std::nullopt;
  price->seconds = price->cost.total();
  const ir::Graph& main = program[program.main];
  for (const auto* list : {&main.inputs, &main.outputs})
    for (ir::ValueId v : *list) price->given += ir::total_bytes(main[v].type);
  if (price->bytes > device().memory_bytes && device().memory_bytes > 0) price->seconds *= 100;  // it would swap
  return price;
}

std::optional<Prediction> Pricer::on_all(const ir::Program& program) {
  backend::CompiledProgram lowered = backend::lower(passes::expand(program), caution_.strict_fp, device().core);
  const std::vector<backend::Kernel>& kernels = lowered.kernels.kernels;
  const ir::Schedule schedule = backend::schedule(lowered.blocks, lowered.kernels);
  Prediction price;
  price.cost = model_.of(trace_of(schedule, kernels), kernels).total;
  price.bytes = static_cast<double>(schedule.arena_bytes) +
                static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(model_.threads());
  return price;
}

std::optional<Prediction> Pricer::on_device(const ir::Program& program, const ir::Plan& plan) {
  passes::PassContext context{.plan = plan, .hash_stages = false};
  context.strict_fp = caution_.strict_fp;
  context.require_proof = caution_.require_proof;
  const passes::Passed sharded = passes::run(passes::sharding_passes(), program, context);
  if (!sharded.problems.empty()) return std::nullopt;
  const std::int64_t here = first_device(sharded.program);
  const backend::CompiledProgram lowered = lowered_for_device(sharded.program, here, caution_.strict_fp, device().core);
  const std::vector<backend::Kernel>& kernels = lowered.kernels.kernels;
  Prediction price;
  price.cost = model_.of(trace_of_device(lowered, here), kernels, here).total;
  price.bytes = peak_bytes_of_device(lowered, here) +
                static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(model_.threads());
  return price;
}

bool Pricer::is_justified(const ir::Program& before, const ir::Program& after, const ir::Step& step) {
  auto [known, fresh] = justified_.emplace(ir::print(after), false);
  if (!fresh) return known->second;
  check::Verdict verdict;
  check::check_step(before, after, step, "a decision", verdict);
  return known->second = !verdict.refused();
}

}  // namespace tap::cost
