#include "backend/schedule/arrange_batches.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "backend/schedule/arranged_steps.h"

namespace tap::backend {

using namespace ir;

namespace {

// With fewer tasks ahead of their time less memory is in use.
constexpr std::size_t any_number = SIZE_MAX / 2;
constexpr ListingPolicy policies[] = {{true, any_number, 2},  {true, 3, 1},  {true, 1, 1},
                                      {false, any_number, 2}, {false, 3, 1}, {false, 0, 1}};

// The lifetimes of buffers: batches are counted in order through iterates, which begin and end at times of their own.
class Lives {
 public:
  Lives(const Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels)
      : schedule_(schedule), facts_(facts), kernels_(kernels), lifetimes_(schedule.buffers.size()) {}

  std::vector<Lifetime> run() {
    count(0);
    for (auto [a, b] : facts_.exchanged) {
      Lifetime &one = of(a), &other = of(b);
      one.first = other.first = std::min(one.first, other.first);
      one.last = other.last = std::max(one.last, other.last);
    }
    return std::move(lifetimes_);
  }
  std::vector<Stretch> stretches = {};

 private:
  Lifetime& of(BufferId id) { return lifetimes_[id.index()]; }
  void use(BufferId id) {
    of(id).first = std::min(of(id).first, time_);
    of(id).last = std::max(of(id).last, time_);
  }
  void count(std::size_t number) {
    const Sequence& sequence = schedule_.sequences[number];
    Stretch open{number, 0, 0, time_, time_};
    auto close = [&](std::size_t b) {
      open.end = b;
      open.to = time_;
      if (open.first < b) stretches.push_back(open);
    };
    for (std::size_t b = 0; b < sequence.size(); ++b) {
      if (const auto* loop = std::get_if<Iteration>(&sequence[b].front().what)) {
        close(b);
        const std::int64_t begin = time_++;
        count(loop->body);
        const std::int64_t end = time_++;
        for (std::size_t k = 0; k < facts_.buffers_before[loop->body]; ++k)
          if (lifetimes_[k].last >= begin) lifetimes_[k].last = end;
        for (const ExchangedState& one : loop->states) of(one.now).last = end;
        open = {number, b + 1, 0, time_, time_};
        continue;
      }
      for (const ScheduledTask& task : sequence[b])
        for_each_use(task, kernels_, [this](BufferId id, bool) { use(id); });
      ++time_;
    }
    close(sequence.size());
  }

  const Schedule& schedule_;
  const TaskFacts& facts_;
  const std::vector<Kernel>& kernels_;
  std::vector<Lifetime> lifetimes_;
  std::int64_t time_ = 0;
};

// The arena that each device needs alone; devices with members of the same buffers need the same.
class DeviceArenas {
 public:
  DeviceArenas(const Schedule& schedule, const std::vector<BufferDevice>& devices) : schedule_(schedule) {
    std::map<std::int64_t, Held> held;
    Held by_all;
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b) {
      const Buffer& buffer = schedule.buffers[b];
      if (buffer.space != MemorySpace::arena || buffer.bytes() == 0) continue;
      if (devices[b].first == everywhere) {
        by_all.emplace_back(b, 1);
        continue;
      }
      for (std::int64_t device : devices_of(devices[b], buffer.row)) {
        Held& its = held[device];
        if (its.empty() || its.back().first != b) its.emplace_back(b, 0);
        ++its.back().second;
      }
    }
    std::map<Held, bool> distinct;
    for (auto& [device, its] : held) {
      its.insert(its.end(), by_all.begin(), by_all.end());
      distinct.emplace(std::move(its), true);
    }
    for (const auto& [its, one] : distinct) kinds_.push_back(its);
  }
  std::vector<std::int64_t> bytes(const std::vector<Lifetime>& lifetimes) const {
    std::vector<std::int64_t> all;
    for (const Held& its : kinds_) {
      Schedule own;
      std::vector<Lifetime> lives;
      for (auto [b, count] : its) {
        Buffer buffer = schedule_.buffers[b];
        buffer.name.clear();
        buffer.row.clear();
        own.buffers.insert(own.buffers.end(), static_cast<std::size_t>(count), buffer);
        lives.insert(lives.end(), static_cast<std::size_t>(count), lifetimes[b]);
      }
      plan_memory(own, lives);
      all.push_back(own.arena_bytes);
    }
    return all;
  }

 private:
  using Held = std::vector<std::pair<std::size_t, std::int64_t>>;  // buffers, and how many members of each
  const Schedule& schedule_;
  std::vector<Held> kinds_;
};

class Arranger {
 public:
  Arranger(Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels,
           const std::vector<BufferDevice>& devices, const ScheduleOptions& options, std::vector<Lifetime>& lifetimes)
      : schedule_(schedule),
        facts_(facts),
        kernels_(kernels),
        options_(options),
        lifetimes_(lifetimes),
        devices_(devices),
        table_(schedule, facts, kernels, devices, options.shared, lifetimes) {}

  void run() {
    Lives lives(schedule_, facts_, kernels_);
    lives.run();
    for (const Stretch& stretch : lives.stretches)
      if (stretch.end - stretch.first > 1) add(stretch);
    if (parts_.empty()) return;
    const TaskTimes times = options_.times(schedule_);
    for (Part& part : parts_) part.steps = table_.of(part.stretch, &times);
    const std::vector<Sequence> program = schedule_.sequences;
    std::optional<DeviceArenas> arenas;
    if (options_.shared) arenas.emplace(schedule_, devices_);
    const std::int64_t bytes = schedule_.arena_bytes;
    const std::vector<std::int64_t> each = arenas ? arenas->bytes(lifetimes_) : std::vector<std::int64_t>();
    for (const std::vector<Arrangement>& chosen : by_time()) {
      rebuild(program, chosen);
      std::vector<Lifetime> made = Lives(schedule_, facts_, kernels_).run();
      plan_memory(schedule_, made);
      if (schedule_.arena_bytes <= bytes &&
          (!arenas || std::ranges::equal(arenas->bytes(made), each, std::less_equal()))) {
        lifetimes_ = std::move(made);
        return;
      }
    }
    schedule_.sequences = program;
    plan_memory(schedule_, lifetimes_);
  }

 private:
  struct Part {
    Stretch stretch;
    StretchSteps steps;
    Arrangement program;
  };

  void add(const Stretch& stretch) {
    Part part{stretch, table_.of(stretch, nullptr), {}};
    part.program = in_program_order(part.steps.steps);
    if (has_freedom(part.steps.steps, part.program)) parts_.push_back(std::move(part));
  }

  // Arrangements of all parts that are better than program order, which an empty one stands for; the fastest first.
  std::vector<std::vector<Arrangement>> by_time() const {
    std::vector<std::pair<double, std::vector<Arrangement>>> found;
    for (const ListingPolicy& policy : policies) {
      auto& [seconds, chosen] = found.emplace_back(0, std::vector<Arrangement>(parts_.size()));
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        const Saving saved = saving(parts_[p].steps.steps, parts_[p].program, policy);
        seconds -= saved.seconds;
        chosen[p] = saved.batches;
      }
    }
    std::erase_if(found, [](const auto& one) { return one.first == 0; });
    std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
    std::vector<std::vector<Arrangement>> all;
    for (auto& [seconds, chosen] : found) all.push_back(std::move(chosen));
    return all;
  }
  void rebuild(const std::vector<Sequence>& program, const std::vector<Arrangement>& chosen) {
    schedule_.sequences = program;
    for (std::size_t p = parts_.size(); p-- > 0;) {  // from the end: batches before keep their places
      const Part& part = parts_[p];
      if (chosen[p].empty()) continue;
      Sequence made;
      const Sequence& old = program[part.stretch.sequence];
      for (const auto& steps : chosen[p]) {
        made.emplace_back();
        for (std::uint32_t s : steps)
          for (auto [b, t] : part.steps.tasks[s]) made.back().push_back(old[b][t]);
      }
      Sequence& sequence = schedule_.sequences[part.stretch.sequence];
      const auto first = sequence.begin() + static_cast<std::ptrdiff_t>(part.stretch.first);
      const auto end = sequence.begin() + static_cast<std::ptrdiff_t>(part.stretch.end);
      sequence.insert(sequence.erase(first, end), std::make_move_iterator(made.begin()),
                      std::make_move_iterator(made.end()));
    }
  }

  Schedule& schedule_;
  const TaskFacts& facts_;
  const std::vector<Kernel>& kernels_;
  const ScheduleOptions& options_;
  std::vector<Lifetime>& lifetimes_;
  const std::vector<BufferDevice>& devices_;
  StepTable table_;
  std::vector<Part> parts_;
};

}  // namespace

void arrange_batches(Schedule& schedule, const TaskFacts& facts, const std::vector<Kernel>& kernels,
                     const std::vector<BufferDevice>& devices, const ScheduleOptions& options,
                     std::vector<Lifetime>& lifetimes) {
  Arranger(schedule, facts, kernels, devices, options, lifetimes).run();
}

}  // namespace tap::backend
