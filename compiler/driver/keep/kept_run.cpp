#include "compiler/driver/keep/kept_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <utility>

#include "backend/compiled_program.h"
#include "compiler/driver/keep/kept_parts.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "runtime/failure.h"
#include "support/plural.h"

namespace tap::driver {

using backend::Digest;

namespace {

constexpr std::int64_t parts_of_iterate = 16;
constexpr std::int64_t most_warnings = 10;
constexpr std::int64_t lost = INT64_MIN;

// States are kept after trips at multiples of this.
std::int64_t distance(const ir::Range& trips) {
  return std::max<std::int64_t>(1, (trips.size() + parts_of_iterate - 1) / parts_of_iterate);
}
bool is_kept_after(const ir::Range& trips, std::int64_t next) {
  return next == trips.hi || (next - trips.lo) % distance(trips) == 0;
}
std::int64_t kept_before(const ir::Range& trips, std::int64_t next) {
  return trips.lo + (next - trips.lo - 1) / distance(trips) * distance(trips);
}

}  // namespace

KeptRun::KeptRun(const Session& session, const KeepOptions& options)
    : session_(session),
      resume_(options.resume),
      folder_(options.folder),
      was_empty_(folder_.is_empty()),
      keeper_{this, begin, wanted, computed, begin_trips, trip} {}

void KeptRun::start(const backend::Executable& executable, const Digest& key, const MpiHost* host) {
  executable_ = &executable;
  key_ = key;
  host_ = host;
  schedule_ = backend::encoded_calls(executable.schedule(), executable.devices());
}

Digest KeptRun::name_of(std::string_view kind, std::size_t batch, std::int64_t first, std::int64_t second) const {
  return backend::digest_of({backend::to_hex(key_), kind, fmt::format("{} {} {}", batch, first, second)});
}

// The executor cannot pass exceptions on. Without memory a result is not kept.
void KeptRun::begin(void* self, std::int64_t batch, void* const* addresses) {
  auto& own = *static_cast<KeptRun*>(self);
  try {
    own.begin_batch(static_cast<std::size_t>(batch), addresses);
  } catch (const std::bad_alloc&) { own.batch_.clear(); } catch (const Failure& failure) {
    own.failure_ = failure;
  }
}

void KeptRun::begin_batch(std::size_t batch, void* const* addresses) {
  batch_.clear();
  const RunMemory memory{*executable_, schedule_, addresses};
  const auto& tasks = schedule_.calls[0][batch];
  std::vector<std::vector<Call>> made(tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (std::size_t n = 0; n < tasks[t].size(); ++n) {
      const ir::ScheduledTask& alone = tasks[t][n].alone;
      made[t].push_back({written_parts(memory, alone),
                         name_of("shard", batch, static_cast<std::int64_t>(t), static_cast<std::int64_t>(n)), false,
                         alone.tiles});
    }
  std::vector<ir::ScheduledTask> calls;
  std::vector<std::vector<KeptPart>*> parts;
  for (std::size_t t = 0; t < tasks.size(); ++t)
    for (std::size_t n = 0; n < tasks[t].size(); ++n) {
      calls.push_back(tasks[t][n].alone);
      parts.push_back(&made[t][n].parts);
    }
  drop_shared_tensors(memory, calls, parts);
  batch_ = std::move(made);
  if (!resume_) return;
  for (std::vector<Call>& task : batch_)
    for (Call& call : task)
      if (!call.parts.empty() && restore(call.name, call.parts)) call.restored = true;
}

bool KeptRun::wanted(void* self, std::int64_t task, std::int64_t call) {
  const auto& batch = static_cast<KeptRun*>(self)->batch_;
  return batch.empty() || !batch[static_cast<std::size_t>(task)][static_cast<std::size_t>(call)].restored;
}

void KeptRun::computed(void* self, std::int64_t task, std::int64_t call, std::int64_t tiles) {
  auto& own = *static_cast<KeptRun*>(self);
  if (own.batch_.empty()) return;
  Call& one = own.batch_[static_cast<std::size_t>(task)][static_cast<std::size_t>(call)];
  if (one.parts.empty()) return;
  const std::int64_t left = std::atomic_ref(one.tiles_left).fetch_sub(tiles, std::memory_order_acq_rel) - tiles;
  if (left == 0) own.store(one.name, one.parts);
}

const ir::Iteration& KeptRun::iteration_of(std::int64_t batch) const {
  return std::get<ir::Iteration>(schedule_.calls[0][static_cast<std::size_t>(batch)].front().front().alone.what);
}

std::int64_t KeptRun::begin_trips(void* self, std::int64_t batch, void* const* addresses) {
  auto& own = *static_cast<KeptRun*>(self);
  const std::int64_t first = own.iteration_of(batch).steps.lo;
  if (!own.resume_) return first;
  try {
    return own.continued(batch, addresses);
  } catch (const Failure& failure) {
    own.failure_ = failure;
    return lost;
  } catch (const std::bad_alloc&) { return lost; }
}

// The last trip of which every process has kept the states: each proposes its last one, then its last one up to the least
// that was proposed, and so on until all propose the same.
std::int64_t KeptRun::continued(std::int64_t batch, void* const* addresses) {
  const ir::Range trips = iteration_of(batch).steps;
  const std::vector<KeptPart> states = state_parts({*executable_, schedule_, addresses}, iteration_of(batch));
  auto name = [&](std::int64_t next) { return name_of("trip", static_cast<std::size_t>(batch), next, 0); };
  std::int64_t all = trips.hi;
  while (true) {
    std::int64_t own = all;
    while (own > trips.lo && !has(name(own), states)) own = kept_before(trips, own);
    const std::int64_t least = least_of_all(own);
    if (std::exchange(all, least) == least) break;
  }
  if (all == trips.lo) return all;
  if (!restore(name(all), states))
    throw resource_failure(Code::cannot_read,
                           tap::quoted(folder_.file_of(name(all))) + " was changed while it was read");
  counts_.first_trip = all;
  counts_.trips = trips.hi;
  return all;
}

std::int64_t KeptRun::least_of_all(std::int64_t own) const {
  if (!host_) return own;
  const ProcessMessages messages(*host_);
  std::int64_t least = own;
  if (!host_->is_first()) {
    messages.send(0, std::as_bytes(std::span(&own, 1)));
    messages.receive(0, std::as_writable_bytes(std::span(&least, 1)));
    return least;
  }
  for (std::int64_t process = 1; process < host_->size(); ++process) {
    std::int64_t its = 0;
    messages.receive(process, std::as_writable_bytes(std::span(&its, 1)));
    least = std::min(least, its);
  }
  for (std::int64_t process = 1; process < host_->size(); ++process)
    messages.send(process, std::as_bytes(std::span(&least, 1)));
  return least;
}

void KeptRun::trip(void* self, std::int64_t batch, std::int64_t next, void* const* addresses) try {
  auto& own = *static_cast<KeptRun*>(self);
  const ir::Iteration& loop = own.iteration_of(batch);
  if (!is_kept_after(loop.steps, next)) return;
  own.store(own.name_of("trip", static_cast<std::size_t>(batch), next, 0),
            state_parts({*own.executable_, own.schedule_, addresses}, loop));
} catch (const std::bad_alloc&) {}  // it is not kept

bool KeptRun::has(const Digest& name, const std::vector<KeptPart>& parts) {
  std::string problem;
  if (folder_.has(name, parts, problem)) return true;
  if (!problem.empty()) reject(name, problem);
  return false;
}

bool KeptRun::restore(const Digest& name, const std::vector<KeptPart>& parts) {
  std::string problem;
  if (folder_.restore(name, parts, problem)) {
    ++counts_.restored;
    return true;
  }
  if (!problem.empty()) reject(name, problem);
  return false;
}

void KeptRun::reject(const Digest& name, const std::string& problem) {
  if (++rejected_ > most_warnings) return;
  session_.report(Diagnostic(
      Code::kept_result, Span{},
      fmt::format("{} is not used: {}; the result is computed again", tap::quoted(folder_.file_of(name)), problem)));
}

// Of any thread. Results that cannot be kept do not stop the run.
void KeptRun::store(const Digest& name, const std::vector<KeptPart>& parts) {
  {
    const std::lock_guard guard(storing_);
    ++counts_.computed;
    if (full_) return;
  }
  int error = ENOMEM;
  try {
    error = folder_.store(name, parts);
  } catch (const std::bad_alloc&) {}
  const std::lock_guard guard(storing_);
  if (error != 0) full_ = error;
}

KeptRun::Counts KeptRun::all_counts() const {
  Counts all = counts_;
  if (!host_) return all;
  const ProcessMessages messages(*host_);
  if (!host_->is_first()) {
    messages.send(0, std::as_bytes(std::span(&counts_, 1)));
    return all;
  }
  for (std::int64_t process = 1; process < host_->size(); ++process) {
    Counts its;
    messages.receive(process, std::as_writable_bytes(std::span(&its, 1)));
    all.restored += its.restored;
    all.computed += its.computed;
  }
  return all;
}

void KeptRun::finish() {
  if (failure_) throw Failure(*failure_);
  if (rejected_ > most_warnings)
    session_.report(fmt::format("{} not used\n",
                                plural(rejected_ - most_warnings, "more kept result was", "more kept results were")));
  if (full_)
    session_.report(Diagnostic(Code::kept_result, Span{},
                               fmt::format("results of this run are not all kept in {}: {}",
                                           tap::quoted(folder_.path()), system_reason(*full_))));
  if (!resume_) return;
  const Counts all = all_counts();
  if (host_ && !host_->is_first()) return;
  std::string text = fmt::format("resumed: {}, {} computed", plural(all.restored, "kept result"), all.computed);
  if (all.first_trip > 0) text += fmt::format("; an iterate continued after trip {} of {}", all.first_trip, all.trips);
  session_.report(text + "\n");
  if (all.restored == 0 && !was_empty_)
    session_.report(
        Diagnostic(Code::kept_result, Span{}, fmt::format("{} has no result of this run", tap::quoted(folder_.path())))
            .help("kept results are valid only for the same program, plan, inputs, division into processes and build "
                  "of tapc"));
}

}  // namespace tap::driver
