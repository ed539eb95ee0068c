#include "cost/model/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "backend/loops/equal_work.h"
#include "cost/model/links.h"
#include "cost/model/recency.h"
#include "cost/work/traffic_walk.h"
#include "support/portions.h"

namespace tap::cost {

namespace {

// The most tiles that a thread runs, as a multiple of an equal share.
double largest_share(const Portions& portions, double threads) {
  const auto tiles = static_cast<double>(portions.tiles());
  return std::ceil(tiles / threads) * threads / tiles;
}

// What could overlap: computing and moving of the same loop. Processors look ahead from one loop into the next, but not far.
double overlapped(const KernelWork& work, double core, const std::vector<double>& moving) {
  constexpr double far = 0.2e-6;  // seconds
  const double together = std::min(core, std::accumulate(moving.begin(), moving.end(), 0.0));
  PhaseWork all{0, std::vector<double>(moving.size(), 0)};
  double loops = 0;
  for (const PhaseWork& phase : work.phases) {
    all.seconds += phase.seconds;
    for (std::size_t c = 0; c < phase.missed.size() && c < moving.size(); ++c) all.missed[c] += phase.missed[c];
    loops += phase.seconds > 0;
  }
  if (loops < 2) return together;
  double apart = 0;
  for (const PhaseWork& phase : work.phases) {
    double bytes = 0;
    for (std::size_t c = 1; c < moving.size(); ++c)
      if (all.missed[c - 1] > 0) bytes += moving[c] * phase.missed[c - 1] / all.missed[c - 1];
    apart += std::min(core * phase.seconds / all.seconds, bytes);
  }
  const double is_long = std::min(all.seconds / work.phase_runs / loops / far, 1.0);
  return is_long * apart + (1 - is_long) * together;
}

double largest_cache(const Device& device) {
  double most = 0;
  for (const MemoryLevel& level : device.levels) most = std::max(most, level.bytes);
  return most;
}

}  // namespace

struct Model::Run {
  const std::vector<backend::Kernel>& kernels;
  Recency recency;
  std::vector<std::size_t> numbers;  // by kernel, its number in the table of works
  std::vector<bool> equal;           // by kernel: its tiles are of equal work
  std::int64_t device = 0;           // the device that runs it
  bool awake = false;                // the other threads take part in this batch
  ProgramCost made = {};
};

Model::Model(Cluster cluster, std::int64_t threads)
    : cluster_(std::move(cluster)), threads_(std::max<std::int64_t>(threads, 1)) {
  for (const Term& term : cluster_.terms) formulas_.push_back(parse_formula(term.formula));
}

ProgramCost Model::of(const Trace& trace, const std::vector<backend::Kernel>& kernels, std::int64_t on_device) {
  Run run{kernels, Recency(1.5 * largest_cache(device())), {}, {}, on_device};
  for (const backend::Kernel& kernel : kernels) {
    run.numbers.push_back(works_.number_of(kernel));
    run.equal.push_back(kernel.tile_dim && backend::has_equal_work(kernel, *kernel.tile_dim));
  }
  all(run, trace, 1, false);  // the run before
  all(run, trace, 1, true);
  CostRow begin{"", "run", 1, {}};
  begin.cost.starting = device().run;
  run.made.rows.push_back(std::move(begin));
  for (const CostRow& row : run.made.rows) run.made.total += row.cost;
  return std::move(run.made);
}

void Model::all(Run& run, const Trace& trace, double times, bool priced) {
  std::size_t batch = 0;
  for (const Event& event : trace) {
    if (auto* repeat = std::get_if<Repeat>(&event.does)) {
      for (int round = 0; round < 2; ++round) {
        if (priced || round == 0) all(run, repeat->body, times * repeat->times, priced && round == 1);
        for (const auto& [now, next] : repeat->exchanged) run.recency.exchange(now, next);
      }
      continue;
    }
    if (event.batch != batch) run.awake = false;
    batch = event.batch;
    Cost cost = std::visit(
        [&](const auto& does) -> Cost {
          if constexpr (std::is_same_v<std::decay_t<decltype(does)>, Repeat>) return {};
          else return of(run, does);
        },
        event.does);
    if (!priced) continue;
    finish(cost);
    cost *= times;
    run.made.rows.push_back({event.name, event.what, times, std::move(cost)});
  }
}

void Model::move(Cost& cost, std::size_t level, double bytes, bool writes, double threads, double starts) const {
  const MemoryLevel& from = device().levels[level];
  cost.bytes.resize(device().levels.size(), 0);
  cost.moving.resize(device().levels.size(), 0);
  cost.bytes[level] += bytes;
  const double one = writes ? from.write : from.read, all = writes ? from.write_shared : from.read_shared;
  if (one > 0) cost.moving[level] += (1 + starts) * bytes / std::min(one * threads, std::max(all, one));
}

// One thread begins at once; the others help as soon as they are awake. What is done by then takes as long as on one thread:
//
//   A alone, P on all threads, w to wake them:   A if A <= w, else w + (A - w) * P / A
Cost Model::of(Run& run, const KernelEvent& event) {
  Cost cost = on_threads(run, event, 1);
  if (threads_ > 1) {
    Cost shared = on_threads(run, event, threads_);
    const double alone = cost.total(), together = shared.total(), wake = run.awake ? 0 : device().wake;
    if (together < alone && wake < alone) {
      shared.starting += wake * (1 - together / alone);
      cost = std::move(shared);
      run.awake = true;
    }
  }
  const std::vector<TensorWork>& tensors =
      works_.of(run.numbers[event.kernel], run.kernels[event.kernel], event.box, device()).tensors;
  for (std::size_t t = 0; t < event.touches.size() && t < tensors.size(); ++t) {
    const Touch& touch = event.touches[t];
    run.recency.touch(touch.memory, std::min(tensors[t].bytes * event.calls, touch.bytes * touch.members),
                      event.kernel);
  }
  return cost;
}

// Of the bytes that all parts of an operand or a result touch together, those at different addresses. Nothing for local memory.
std::optional<double> Model::distinct_bytes(const KernelEvent& event, double bytes, std::size_t tensor) {
  if (tensor >= event.touches.size()) return std::nullopt;
  const Touch& touch = event.touches[tensor];
  return std::min(bytes, touch.bytes * touch.members);
}

// Threads run the same kernel on different parts, so the time is that of one thread, times the imbalance of their
// shares.
Cost Model::on_threads(const Run& run, const KernelEvent& event, std::int64_t wanted) {
  const backend::Kernel& kernel = run.kernels[event.kernel];
  const double tiles = std::max(event.calls * event.portions, 1.0);
  const Tiles known = wanted == 1 ? Tiles::one_thread : run.equal[event.kernel] ? Tiles::equal_work : Tiles::any_work;
  const Portions taken(static_cast<std::int64_t>(tiles), wanted, known);
  const auto portions = static_cast<double>(taken.count());
  const double at_a_time = std::ceil(tiles / portions);
  const double threads = std::min({static_cast<double>(wanted), static_cast<double>(device().threads), portions});
  ir::Box box = event.box;
  double repeated = event.calls;
  if (at_a_time < event.portions && kernel.tile_dim) {
    ir::Range& range = box.dims[*kernel.tile_dim];
    const double grains = std::ceil(static_cast<double>(range.size()) / static_cast<double>(kernel.grain));
    const double mine = std::max(std::round(grains * at_a_time / event.portions), 1.0);
    const double cells = std::min(mine * static_cast<double>(kernel.grain), static_cast<double>(range.size()));
    repeated *= static_cast<double>(range.size()) / cells;
    // From the middle, since the work may grow with the position: sums over what comes before.
    const double before =
        std::floor((static_cast<double>(range.size()) - cells) / 2 / static_cast<double>(kernel.grain));
    range.lo += static_cast<std::int64_t>(before) * kernel.grain;
    range.hi = range.lo + static_cast<std::int64_t>(cells);
  }
  const KernelWork& work = works_.of(run.numbers[event.kernel], kernel, box, device());

  Cost cost;
  cost.operations = work.operations * repeated;
  for (const auto& type : work.instructions.by_type)
    cost.instructions += std::accumulate(type.begin(), type.end(), 0.0) * repeated;
  cost.loads = work.loads * repeated;
  cost.stores = work.stores * repeated;
  cost.rounds = work.rounds * repeated;
  cost.lanes = work.lanes * repeated;
  cost.lanes_used = work.lanes_used * repeated;
  cost.calls = std::max(event.calls, portions);
  // If only some threads are busy, each gets a larger share.
  const double busy = device().threads > 1 ? (threads - 1) / static_cast<double>(device().threads - 1) : 0;
  const double speed = threads * (1 - busy * (1 - device().scaling));
  cost.compute = work.busy * repeated / speed;
  cost.waiting = work.waiting * repeated / speed;
  cost.starting = device().call * cost.calls / threads;

  // Between two accesses to the same data lie those of one part, if the other part needs the data, too; else those of all.
  double of_part = 0, of_all = 0;
  for (std::uint32_t t = 0; t < work.tensors.size(); ++t) {
    if (backend::memory_of(kernel, t) != t) continue;
    of_part += work.tensors[t].bytes;
    of_all += distinct_bytes(event, work.tensors[t].bytes * repeated, t).value_or(work.tensors[t].bytes);
  }
  const std::size_t last = device().levels.size() - 1;
  for (std::size_t t = 0; t < work.tensors.size(); ++t) {
    const TensorWork& tensor = work.tensors[t];
    const double distinct = distinct_bytes(event, tensor.bytes * repeated, t).value_or(0);
    const double before = distinct > 0 ? run.recency.since(event.touches[t].memory) : 0;
    // Calls with the same tiles give a thread the same parts again, and it needs to keep only these in its own caches. Otherwise
    // any thread may have had what it needs.
    const bool is_own = distinct > 0 && tensor.bytes * repeated <= distinct * 1.01 &&
                        run.recency.user(event.touches[t].memory) == event.kernel;
    double nearer = 0;  // bytes that missed the previous level
    for (std::size_t c = 0; c <= last; ++c) {
      double missed = 0;
      if (c < last) {
        const double first = std::min(tensor.bytes, tensor.missed[c]) * repeated, fresh = std::min(first, distinct);
        // All threads together have the shares of all in a cache that they share.
        const double shares = c + 1 == last ? static_cast<double>(std::min(threads_, device().threads)) : 1;
        const bool is_private = c + 1 < last;
        const double apart = is_private && is_own ? threads : 1;
        const double held = fresh * share_kept((before + of_all) / apart, device().levels[c].bytes * shares) * apart +
                            (first - fresh) * share_kept(of_part, device().levels[c].bytes);
        missed = std::max(tensor.missed[c] * repeated - held / (is_private ? threads : 1), 0.0);
        if (c > 0) missed = std::min(missed, nearer);
      }
      // Starts of runs: the second cache is fast in any order; stores do not wait.
      const bool waits = c > 1 && !tensor.writes && tensor.missed[c - 1] > 0;
      const double starts = waits ? tensor.starts[c - 1] / tensor.missed[c - 1] : 0;
      if (c > 0 && nearer > missed) move(cost, c, nearer - missed, tensor.writes, threads, starts);
      nearer = missed;
    }
  }
  const double core = cost.compute + cost.waiting, bytes = std::accumulate(cost.moving.begin(), cost.moving.end(), 0.0);
  cost.hidden = device().overlap * overlapped(work, core, cost.moving);
  cost.imbalance = (largest_share(taken, threads) - 1) * (core + bytes - cost.hidden);
  return cost;
}

Cost Model::of(Run& run, const CopyEvent& event) {
  Cost cost;
  cost.calls = 1;
  cost.starting = device().call;
  const double lines = std::ceil(event.bytes / static_cast<double>(device().core.vector_bytes));
  cost.loads = event.from ? lines : 0;
  cost.stores = lines;
  cost.compute = lines / device().stores + event.runs * 8 / device().steps;
  for (int writes = 0; writes < 2; ++writes) {
    if (!writes && !event.from) continue;
    const Touch& touch = writes ? event.to : *event.from;
    const double before = run.recency.since(touch.memory) + 2 * event.bytes;
    std::size_t level = 0;
    while (level + 1 < device().levels.size() && share_kept(before, device().levels[level].bytes) < 0.5) ++level;
    if (level > 0) move(cost, level, event.bytes, writes != 0, 1, 0);
    run.recency.touch(touch.memory, std::min(event.bytes, touch.bytes * touch.members));
  }
  cost.hidden = device().overlap * std::min(cost.compute, std::accumulate(cost.moving.begin(), cost.moving.end(), 0.0));
  return cost;
}

Cost Model::of(Run& run, const MessageEvent& event) {
  Cost cost;
  const Route route = route_between(cluster_, event.from, run.device);
  cost.messages = 1;
  cost.received = event.bytes;
  cost.latency = route.latency;
  cost.transfer = route.bandwidth > 0 ? event.bytes / route.bandwidth : 0;
  run.recency.touch(event.to.memory, event.bytes);
  return cost;
}

Cost Model::of(Run&, const OutsideEvent& event) {
  Cost cost;
  cost.calls = 1;
  cost.operations = event.operations;
  cost.starting = device().call;
  cost.compute = event.operations / device().steps;  // nothing else is known about it
  return cost;
}

void Model::finish(Cost& cost) const {
  if (formulas_.empty()) return;
  std::vector<Amount> values = quantities_of(cost, device());
  for (Amount& term : terms_of(cost, cluster_, device())) values.push_back(std::move(term));
  for (std::size_t t = 0; t < formulas_.size(); ++t) {
    const std::string& name = cluster_.terms[t].name;
    const double seconds = formulas_[t].of(values);
    const bool replaced = replace_term(cost, device(), name, seconds);
    cost.own.push_back(replaced ? 0 : seconds);
    if (!replaced) values.push_back({name, seconds});
  }
}

}  // namespace tap::cost
