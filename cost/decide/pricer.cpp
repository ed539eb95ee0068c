#include "cost/decide/pricer.h"

#include <algorithm>

#include "backend/compiled_program.h"
#include "backend/llvm/library.h"
#include "cost/model/trace.h"
#include "ir/text.h"
#include "passes/splits/expand.h"

namespace tap::cost {

namespace {

constexpr double sure = 0.95;        // of the time: beyond what the model cannot tell
constexpr double as_good = 1.02;     // of the time
constexpr double smaller = 0.5;      // of the memory
constexpr double noticed = 1 << 20;  // bytes: less memory than that is not worth a slower program
constexpr std::size_t operations_per_evaluation = 8;

}  // namespace

bool is_better(const Prediction& now, const Prediction& before) {
  if (now.seconds < sure * before.seconds) return true;
  return now.seconds <= as_good * before.seconds && before.bytes > noticed && now.bytes < smaller * before.bytes;
}

Pricer::Pricer(Cluster cluster, std::int64_t threads, bool strict_fp, std::size_t evaluations)
    : model_(std::move(cluster), threads), strict_fp_(strict_fp), left_(evaluations) {}

// Whether all of its values can be in memory at once, which nobody has asked yet.
static bool fits_in_addresses(const ir::Program& program) {
  constexpr double most = 1e15;
  double bytes = 0;
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Value& value : graph.values) {
      double size = static_cast<double>(size_of(value.type.element));
      for (std::int64_t extent : value.type.shape) size *= static_cast<double>(extent);
      bytes += size;
    }
  return bytes < most;
}

std::optional<Prediction> Pricer::of(const ir::Program& program) {
  if (!fits_in_addresses(program)) return std::nullopt;
  std::string text = ir::print(program);
  if (auto known = known_.find(text); known != known_.end()) return known->second;
  const std::size_t cost = 1 + program[program.main].operations.size() / operations_per_evaluation;
  if (cost > left_) return std::nullopt;
  left_ -= cost;
  used_ += cost;
  backend::CompiledProgram lowered = backend::lower(passes::expand(program), strict_fp_, device().core);
  const std::vector<backend::Kernel>& kernels = lowered.kernels.kernels;
  const ir::Schedule schedule = backend::schedule(lowered.blocks, lowered.kernels);
  Prediction price;
  price.seconds = model_.of(trace_of(schedule, kernels), kernels).total.total();
  price.bytes = static_cast<double>(schedule.arena_bytes) +
                static_cast<double>(backend::most_scratch(kernels)) * static_cast<double>(model_.threads());
  if (price.bytes > device().memory_bytes && device().memory_bytes > 0) price.seconds *= 100;  // it would swap
  known_.emplace(std::move(text), price);
  return price;
}

}  // namespace tap::cost
