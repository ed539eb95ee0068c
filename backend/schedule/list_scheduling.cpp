#include "backend/schedule/list_scheduling.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace tap::backend {
namespace {

constexpr double sharing = 4;           // that share a batch: a schedule is for any number
constexpr double worth_joining = 0.03;  // of the time of both: less would not make up for colder caches
constexpr double worth_it = 0.002;      // of the time of program order
constexpr double worth_batches = 0.01;  // likewise, if there are more batches
constexpr std::size_t looked_at = 32;   // ready steps, for each batch

// What a batch does so far.
struct BatchLoad {
  double work = 0, longest = 0, latency = 0, travel = 0;
  std::int64_t parts = 0;

  void add(const Step& step) {
    work += step.work;
    longest = std::max(longest, step.longest);
    if (step.work > 0) parts += step.parts;
    latency = std::max(latency, step.latency);
    travel += step.travel;
  }
  BatchLoad with(const Step& step) const {
    BatchLoad both = *this;
    both.add(step);
    return both;
  }
  double computing(double batch) const { return parts > 1 ? std::max(work / sharing, longest) + batch : work; }
  double messages() const { return latency + travel; }
  double seconds(double batch) const { return std::max(computing(batch), messages()); }
};

double seconds_of(const Step& step, double batch) { return BatchLoad().with(step).seconds(batch); }
bool has_messages(const Step& step) { return step.latency + step.travel > 0; }

// Steps and the uses of memories between them: reads by several steps are one use, each write is one. A step comes after
// all steps of the uses before its own.
struct StepGraph {
  std::vector<std::vector<std::uint32_t>> before, after;  // by step: uses
  std::vector<std::vector<std::uint32_t>> readies;        // by use: the steps that come after it
  std::vector<std::uint32_t> users;                       // by use: how many steps

  explicit StepGraph(const Steps& steps) : before(steps.steps.size()), after(steps.steps.size()) {
    constexpr std::uint32_t none = UINT32_MAX;
    struct Latest {
      std::uint32_t use = none, previous = none;
      bool reads = false;
    };
    std::vector<Latest> latest(steps.memories.size());
    for (std::uint32_t s = 0; s < steps.steps.size(); ++s) {
      auto use = [&](std::uint32_t memory, bool reads) {
        Latest& its = latest[memory];
        if (its.use == none || !reads || !its.reads) {
          its = {static_cast<std::uint32_t>(users.size()), its.use, reads};
          users.push_back(0);
          readies.emplace_back();
        }
        ++users[its.use];
        after[s].push_back(its.use);
        if (its.previous == none) return;
        before[s].push_back(its.previous);
        readies[its.previous].push_back(s);
      };
      const Step& step = steps.steps[s];
      for (std::uint32_t memory : step.writes) use(memory, false);
      for (std::uint32_t memory : step.reads) use(memory, true);
    }
  }
};

// The longest path from the begin of each step to the end.
std::vector<double> paths_of(const Steps& steps, const StepGraph& graph) {
  std::vector<double> paths(steps.steps.size()), of_uses(graph.users.size());
  for (std::size_t s = paths.size(); s-- > 0;) {
    for (std::uint32_t use : graph.after[s]) paths[s] = std::max(paths[s], of_uses[use]);
    paths[s] += seconds_of(steps.steps[s], steps.batch);
    for (std::uint32_t use : graph.before[s]) of_uses[use] = std::max(of_uses[use], paths[s]);
  }
  return paths;
}

// The memories in use while steps run.
class Live {
 public:
  explicit Live(const Steps& steps) : steps_(steps), left_(steps.memories.size()), held_(steps.memories.size()) {
    for (std::size_t m = 0; m < held_.size(); ++m) {
      held_[m] = steps.memories[m].before;
      if (held_[m]) bytes_ += steps.memories[m].bytes;
    }
    for (const Step& step : steps.steps) each(step, [&](std::uint32_t memory) { ++left_[memory]; });
  }
  std::int64_t with(const Step& step) const {
    std::int64_t sum = bytes_;
    each(step, [&](std::uint32_t memory) { sum += held_[memory] ? 0 : steps_.memories[memory].bytes; });
    return sum;
  }
  void take(const Step& step) {
    bytes_ = with(step);
    each(step, [&](std::uint32_t memory) { held_[memory] = true; });
  }
  void release(const Step& step) {
    each(step, [&](std::uint32_t memory) {
      if (--left_[memory] > 0 || steps_.memories[memory].after) return;
      held_[memory] = false;
      bytes_ -= steps_.memories[memory].bytes;
    });
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  template <class Each>
  static void each(const Step& step, const Each& each) {
    for (const auto* list : {&step.reads, &step.writes})
      for (std::uint32_t memory : *list) each(memory);
  }
  const Steps& steps_;
  std::vector<std::uint32_t> left_;  // steps that use a memory
  std::vector<bool> held_;
  std::int64_t bytes_ = 0;
};

std::int64_t most_packed(const Steps& steps, const Arrangement& batches) {
  std::int64_t most = 0;
  for (const auto& batch : batches) {
    std::int64_t packed = 0;
    for (std::uint32_t s : batch) packed += steps.steps[s].packed;
    most = std::max(most, packed);
  }
  return most;
}

class Lister {
 public:
  Lister(const Steps& steps, const Arrangement& program, const ListingPolicy& policy)
      : steps_(steps),
        policy_(policy),
        graph_(steps),
        paths_(paths_of(steps, graph_)),
        live_(steps),
        budget_(peak_bytes(steps, program)),
        packed_budget_(most_packed(steps, program)),
        planned_(steps.steps.size()),
        users_left_(graph_.users),
        uses_left_(steps.steps.size()),
        state_(steps.steps.size(), State::waiting) {
    for (std::size_t b = 0; b < program.size(); ++b)
      for (std::uint32_t s : program[b]) planned_[s] = b;
    for (std::uint32_t s = 0; s < uses_left_.size(); ++s)
      if ((uses_left_[s] = static_cast<std::uint32_t>(graph_.before[s].size())) == 0) make_ready(s);
  }

  Arrangement run() {
    Arrangement made;
    for (advance(); front_ < state_.size(); advance()) {
      batch_.clear();
      load_ = {};
      packed_ = 0;
      const std::uint32_t first = policy_.by_path ? longest_path() : front_;
      take(first);
      follow_program(first);
      join_computing();
      join_messages();
      finish();
      made.push_back(batch_);
    }
    return made;
  }

 private:
  enum class State : std::uint8_t { waiting, ready, taken };
  using Ready = std::set<std::pair<double, std::uint32_t>>;  // the longest path first, then the first of the program

  const Step& step(std::uint32_t s) const { return steps_.steps[s]; }
  Ready& list_of(std::uint32_t s) { return has_messages(step(s)) ? messages_ : computing_; }
  void make_ready(std::uint32_t s) {
    state_[s] = State::ready;
    list_of(s).emplace(-paths_[s], s);
  }
  void advance() {
    while (front_ < state_.size() && state_[front_] == State::taken) ++front_;
    while (failing_ < state_.size() && (state_[failing_] == State::taken || !step(failing_).may_fail)) ++failing_;
  }
  // Those that may fail keep their order.
  bool may_run(std::uint32_t s) {
    if (state_[s] != State::ready) return false;
    if (!step(s).may_fail) return true;
    advance();
    return s == failing_;
  }
  bool fits(std::uint32_t s) const {
    return live_.with(step(s)) <= budget_ && (step(s).packed == 0 || packed_ + step(s).packed <= packed_budget_);
  }
  bool is_near(std::uint32_t s) {
    advance();
    const std::size_t ahead = has_messages(step(s)) ? policy_.messages_ahead : policy_.ahead;
    return front_ >= state_.size() || planned_[s] <= planned_[front_] + ahead;
  }
  void take(std::uint32_t s) {
    list_of(s).erase({-paths_[s], s});
    state_[s] = State::taken;
    live_.take(step(s));
    load_.add(step(s));
    packed_ += step(s).packed;
    batch_.push_back(s);
  }

  std::uint32_t longest_path() {
    std::optional<std::uint32_t> best;
    for (const Ready* list : {&messages_, &computing_}) {
      std::size_t looked = 0;
      for (const auto& [path, s] : *list) {
        if (++looked > looked_at) break;
        if (!may_run(s) || !fits(s) || !is_near(s)) continue;
        if (!best || paths_[s] > paths_[*best] || (paths_[s] == paths_[*best] && s < *best)) best = s;
        break;
      }
    }
    return best.value_or(front_);
  }

  // The steps that program order has in this batch, too. Where a longer path came first, only messages.
  void follow_program(std::uint32_t first) {
    const std::uint32_t front = front_;
    for (std::uint32_t s = front; s < state_.size(); ++s) {
      if (state_[s] == State::taken) continue;
      if (!may_run(s) || !fits(s) || (first != front && !has_messages(step(s)))) return;
      take(s);
    }
  }

  void join_computing() {
    join(computing_, [&](std::uint32_t s) {
      const double together = load_.with(step(s)).seconds(steps_.batch);
      const double apart = load_.seconds(steps_.batch) + seconds_of(step(s), steps_.batch);
      return apart - together > worth_joining * together;
    });
  }
  // As many as travel while the batch computes.
  void join_messages() {
    join(messages_, [&](std::uint32_t s) {
      const BatchLoad both = load_.with(step(s));
      return both.messages() <= both.computing(steps_.batch);
    });
  }
  template <class Pays>
  void join(const Ready& list, const Pays& pays) {
    std::vector<std::uint32_t> found;
    for (auto it = list.begin(); it != list.end() && found.size() < looked_at; ++it) found.push_back(it->second);
    for (std::uint32_t s : found)
      if (may_run(s) && pays(s) && fits(s) && is_near(s)) take(s);
  }

  void finish() {
    for (std::uint32_t s : batch_) live_.release(step(s));
    for (std::uint32_t s : batch_)
      for (std::uint32_t use : graph_.after[s])
        if (--users_left_[use] == 0)
          for (std::uint32_t next : graph_.readies[use])
            if (--uses_left_[next] == 0) make_ready(next);
    std::ranges::sort(batch_);
  }

  const Steps& steps_;
  const ListingPolicy& policy_;
  const StepGraph graph_;
  const std::vector<double> paths_;
  Live live_;
  const std::int64_t budget_, packed_budget_;
  std::vector<std::size_t> planned_;  // by step: its batch in program order
  std::vector<std::uint32_t> users_left_, uses_left_;
  std::vector<State> state_;
  Ready messages_, computing_;
  std::uint32_t front_ = 0, failing_ = 0;  // the first steps that are left
  std::vector<std::uint32_t> batch_;
  BatchLoad load_;
  std::int64_t packed_ = 0;
};

}  // namespace

Arrangement in_program_order(const Steps& steps) {
  constexpr std::uint32_t never = 0;
  std::vector<std::uint32_t> read(steps.memories.size(), never), written = read;  // in which batch, from 1
  Arrangement made;
  for (std::uint32_t s = 0; s < steps.steps.size(); ++s) {
    const Step& step = steps.steps[s];
    const auto now = static_cast<std::uint32_t>(made.size());
    const bool depends =
        std::ranges::any_of(step.reads, [&](std::uint32_t memory) { return written[memory] == now; }) ||
        std::ranges::any_of(step.writes,
                            [&](std::uint32_t memory) { return written[memory] == now || read[memory] == now; });
    if (made.empty() || depends) made.emplace_back();
    made.back().push_back(s);
    for (std::uint32_t memory : step.reads) read[memory] = static_cast<std::uint32_t>(made.size());
    for (std::uint32_t memory : step.writes) written[memory] = static_cast<std::uint32_t>(made.size());
  }
  return made;
}

Arrangement by_list(const Steps& steps, const Arrangement& program, const ListingPolicy& policy) {
  return Lister(steps, program, policy).run();
}

Saving saving(const Steps& steps, const Arrangement& program, const ListingPolicy& policy) {
  Arrangement made = by_list(steps, program, policy);
  const double before = predicted_seconds(steps, program), after = predicted_seconds(steps, made);
  const bool more = made.size() > program.size();
  if (more && std::ranges::none_of(steps.steps, has_messages)) return {};
  const double least = more ? worth_batches : worth_it;
  if (after >= (1 - least) * before || peak_bytes(steps, made) > peak_bytes(steps, program)) return {};
  return {std::move(made), before - after};
}

bool has_freedom(const Steps& steps, const Arrangement& program) {
  const StepGraph graph(steps);
  std::vector<std::size_t> least(graph.users.size());  // the batch after each use
  for (std::size_t b = 0; b < program.size(); ++b)
    for (std::uint32_t s : program[b]) {
      std::size_t batch = 0;
      for (std::uint32_t use : graph.before[s]) batch = std::max(batch, least[use]);
      if (batch < b) return true;
      for (std::uint32_t use : graph.after[s]) least[use] = std::max(least[use], batch + 1);
    }
  if (std::ranges::none_of(steps.steps, has_messages)) return false;
  std::vector<std::size_t> most(graph.users.size(), program.size());  // the batch before which each use ends
  for (std::size_t b = program.size(); b-- > 0;)
    for (std::uint32_t s : program[b]) {
      std::size_t before = program.size();
      for (std::uint32_t use : graph.after[s]) before = std::min(before, most[use]);
      if (before > b + 1) return true;
      for (std::uint32_t use : graph.before[s]) most[use] = std::min(most[use], b);
    }
  return false;
}

double predicted_seconds(const Steps& steps, const Arrangement& batches) {
  double sum = 0;
  for (const auto& batch : batches) {
    BatchLoad load;
    for (std::uint32_t s : batch) load.add(steps.steps[s]);
    sum += load.seconds(steps.batch);
  }
  return sum;
}

std::int64_t peak_bytes(const Steps& steps, const Arrangement& batches) {
  Live live(steps);
  std::int64_t most = live.bytes();
  for (const auto& batch : batches) {
    for (std::uint32_t s : batch) live.take(steps.steps[s]);
    most = std::max(most, live.bytes());
    for (std::uint32_t s : batch) live.release(steps.steps[s]);
  }
  return most;
}

}  // namespace tap::backend
