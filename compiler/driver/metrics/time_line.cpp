#include "compiler/driver/metrics/time_line.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tap::driver {
namespace {

struct BatchRun {  // of a batch, in one process
  std::int64_t process = 0;
  std::vector<std::size_t> tasks, messages, sends;  // events
  std::optional<std::size_t> wait, before;          // `before`: the run before it in its process
};

struct PlacedPiece {
  std::int64_t worker = 0;
  TimePiece piece;
};

struct PlacedRun {  // of one run
  std::vector<PlacedPiece> tasks, messages;
  double began = 0, ended = 0;
  std::optional<std::size_t> waited_for;  // the run whose message it waited for
  bool messages_first = false;            // as predicted: tasks follow messages
};

class TimeLineBuilder {
 public:
  TimeLineBuilder(const Trace& trace, std::size_t most) : trace_(trace) { list_runs(most); }

  TimeLine run() {
    std::vector<TimeRow> rows;
    for (const BatchRun& run : runs_)
      for (const auto* list : {&run.tasks, &run.messages})
        for (std::size_t event : *list) rows.push_back(row_of(trace_.events[event]));
    for (const BatchRun& run : runs_)
      if (run.wait) rows.push_back(row_of(trace_.events[*run.wait]));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    made_.rows = std::move(rows);
    std::vector<PlacedRun> measured, predicted(runs_.size());
    for (const BatchRun& run : runs_) measured.push_back(measure(run));
    predict_all(predicted);
    made_.measured = finish(measured, made_.measured_us);
    made_.predicted = finish(predicted, made_.predicted_us);
    return std::move(made_);
  }

 private:
  // Consecutive events of a process with the same batch and trips.
  void list_runs(std::size_t most) {
    std::map<std::int64_t, std::size_t> last;  // by process
    for (std::size_t e = 0; e < trace_.events.size(); ++e) {
      const TraceEvent& event = trace_.events[e];
      if (event.kind != TraceKind::send) ++made_.count;
      auto at = last.find(event.process);
      const bool again = at != last.end() && batch_of_[at->second] == event.batch;
      if (!again) {
        BatchRun fresh;
        fresh.process = event.process;
        if (at != last.end()) fresh.before = at->second;
        last[event.process] = runs_.size();
        runs_.push_back(std::move(fresh));
        batch_of_.push_back(event.batch);
      }
      add(runs_[last[event.process]], e);
    }
    keep(most);
    for (std::size_t r = 0; r < runs_.size(); ++r)
      for (std::size_t e : runs_[r].sends) sender_.emplace(trace_.events[e].message, std::pair(r, e));
  }
  void add(BatchRun& run, std::size_t e) const {
    switch (trace_.events[e].kind) {
      case TraceKind::send: run.sends.push_back(e); return;
      case TraceKind::message: run.messages.push_back(e); return;
      case TraceKind::wait: run.wait = e; return;
      case TraceKind::kernel:
      case TraceKind::copy:
      case TraceKind::transfer:
      case TraceKind::fill:
      case TraceKind::outside: run.tasks.push_back(e);
    }
  }
  static std::size_t size(const BatchRun& run) { return run.tasks.size() + run.messages.size() + (run.wait ? 1 : 0); }

  // Of first runs that alone are too large, the beginning.
  std::size_t clip(std::size_t most) {
    const auto first = std::count_if(runs_.begin(), runs_.end(), [](const BatchRun& run) { return !run.before; });
    const std::size_t share = std::max<std::size_t>(1, most / static_cast<std::size_t>(first));
    std::size_t kept = 0;
    for (BatchRun& run : runs_) {
      if (run.before) continue;
      run.messages.resize(std::min(run.messages.size(), share));
      run.tasks.resize(std::min(run.tasks.size(), share - run.messages.size()));
      kept += size(run);
    }
    return kept;
  }

  // The same number of runs of each process, so that messages keep their ends.
  void keep(std::size_t most) {
    std::vector<std::size_t> depth(runs_.size());
    std::map<std::size_t, std::size_t> sizes;  // by depth
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      depth[r] = runs_[r].before ? depth[*runs_[r].before] + 1 : 0;
      sizes[depth[r]] += size(runs_[r]);
    }
    std::size_t kept = 0, end = 0;
    for (const auto& [at, events] : sizes) {
      if (kept + events > most && end > 0) break;
      kept += events;
      end = at + 1;
    }
    if (kept > most) kept = clip(most);
    made_.kept = kept;
    std::vector<std::size_t> number(runs_.size());
    std::vector<BatchRun> left;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (depth[r] >= end) continue;
      number[r] = left.size();
      if (runs_[r].before) runs_[r].before = number[*runs_[r].before];
      left.push_back(std::move(runs_[r]));
    }
    runs_ = std::move(left);
  }

  PlacedRun measure(const BatchRun& run) const {
    PlacedRun out;
    double last_task = -1;
    out.began = out.ended = first_of(run);
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> calls;
    for (std::size_t e : run.tasks) {
      const TraceEvent& event = trace_.events[e];
      const std::size_t call = calls.emplace(std::pair(event.task, event.member), e).first->second;
      out.tasks.push_back({event.row, {call, 0, event.began, event.ended, false}});
      last_task = std::max(last_task, event.ended);
    }
    double sent = last_task;
    for (std::size_t e : run.messages) {
      const TraceEvent& event = trace_.events[e];
      out.messages.push_back({0, {e, 0, event.began, event.ended, false}});
      auto from = sender_.find(event.message);
      if (from == sender_.end() || trace_.events[from->second.second].began <= sent) continue;
      sent = trace_.events[from->second.second].began;
      out.waited_for = from->second.first;
    }
    for (const auto* list : {&out.tasks, &out.messages})
      for (const PlacedPiece& one : *list) out.ended = std::max(out.ended, one.piece.ended);
    if (run.wait) {
      const TraceEvent& wait = trace_.events[*run.wait];
      out.messages.push_back({0, {*run.wait, 0, wait.began, wait.ended, false}});
      out.ended = std::max(out.ended, wait.ended);
    }
    return out;
  }
  double first_of(const BatchRun& run) const {
    std::optional<double> first;
    for (const auto* list : {&run.tasks, &run.messages})
      for (std::size_t e : *list) first = std::min(first.value_or(trace_.events[e].began), trace_.events[e].began);
    return first.value_or(run.wait ? trace_.events[*run.wait].began : 0);
  }

  // Messages are sent when a run begins, before it waits for any: after the run before it.
  std::optional<std::size_t> before_sending(std::size_t message) const {
    auto from = sender_.find(trace_.events[message].message);
    return from == sender_.end() ? std::nullopt : runs_[from->second.first].before;
  }

  // Runs after those before them and before their messages; a trace in which none is left like that is not a run's.
  void predict_all(std::vector<PlacedRun>& out) const {
    std::vector<bool> placed(runs_.size());
    auto is_ready = [&](std::size_t r) {
      if (runs_[r].before && !placed[*runs_[r].before]) return false;
      return std::all_of(runs_[r].messages.begin(), runs_[r].messages.end(), [&](std::size_t e) {
        const std::optional<std::size_t> from = before_sending(e);
        return !from || placed[*from];
      });
    };
    std::vector<std::size_t> left(runs_.size());
    for (std::size_t r = 0; r < left.size(); ++r) left[r] = r;
    while (!left.empty()) {
      std::vector<std::size_t> later;
      for (std::size_t r : left) {
        if (!is_ready(r)) {
          later.push_back(r);
          continue;
        }
        out[r] = predict(runs_[r], out);
        placed[r] = true;
      }
      if (later.size() == left.size()) {  // messages that wait for each other: the first run goes without
        out[later.front()] = predict(runs_[later.front()], out);
        placed[later.front()] = true;
        later.erase(later.begin());
      }
      left = std::move(later);
    }
  }

  PlacedRun predict(const BatchRun& run, const std::vector<PlacedRun>& before) const {
    PlacedRun out;
    out.messages_first = true;
    if (run.before) out.began = before[*run.before].ended;
    for (std::size_t e : run.messages) {
      const std::optional<std::size_t> from = before_sending(e);
      if (!from || before[*from].ended <= out.began) continue;
      out.began = before[*from].ended;
      out.waited_for = sender_.at(trace_.events[e].message).first;
    }
    double now = out.began;
    for (std::size_t e : run.messages) {
      const double end = now + trace_.events[e].predicted.value_or(0);
      out.messages.push_back({0, {e, 0, now, end, false}});
      now = end;
    }
    out.ended = place_calls(run, now, out.tasks);
    return out;
  }

  // The calls of a run in their order, each on the workers that are free first. Returns when they end.
  double place_calls(const BatchRun& run, double begin, std::vector<PlacedPiece>& out) const {
    struct Call {
      std::size_t event;
      double seconds;
      std::int64_t tiles;
    };
    std::vector<Call> calls;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;  // by task and member
    double all = 0, tiles = 0;
    for (std::size_t e : run.tasks) {
      const TraceEvent& event = trace_.events[e];
      if (!known.emplace(std::pair(event.task, event.member), e).second) continue;
      calls.push_back({e, event.predicted.value_or(0), event.tiles});
      all += calls.back().seconds;
      tiles += static_cast<double>(event.tiles);
    }
    const std::int64_t workers = trace_.workers[static_cast<std::size_t>(run.process)];
    const double busy = std::min(static_cast<double>(workers), tiles);
    std::vector<double> free(static_cast<std::size_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(busy))));
    for (const Call& call : calls) {
      const auto parts = std::min(call.tiles, static_cast<std::int64_t>(free.size()));
      for (std::int64_t k = 0; k < parts; ++k) {
        const auto worker = std::min_element(free.begin(), free.end());
        const double began = *worker;
        *worker += call.seconds * busy / static_cast<double>(parts);
        const std::int64_t number = worker - free.begin();
        const bool goes_on = !out.empty() && out.back().piece.event == call.event && out.back().worker == number;
        if (goes_on) out.back().piece.ended = *worker;
        else out.push_back({number, {call.event, 0, began, *worker, false}});
      }
    }
    const double longest = calls.empty() ? 0 : *std::max_element(free.begin(), free.end());
    const double scale = longest > 0 ? all / longest : 0;
    for (PlacedPiece& one : out) {
      one.piece.began = begin + one.piece.began * scale;
      one.piece.ended = begin + one.piece.ended * scale;
    }
    return begin + all;
  }

  static void mark_critical(std::vector<PlacedRun>& all, const std::vector<BatchRun>& runs) {
    std::optional<std::size_t> at;
    for (std::size_t r = 0; r < all.size(); ++r)
      if (!at || all[r].ended > all[*at].ended) at = r;
    for (std::size_t left = all.size(); at && left > 0; --left) {  // a run's own trace has no cycle
      PlacedRun& run = all[*at];
      const bool waited = run.waited_for.has_value();
      if (waited || run.messages_first)
        for (PlacedPiece& one : run.messages) one.piece.critical = true;
      const PlacedPiece* last = nullptr;
      for (const PlacedPiece& one : run.tasks)
        if (!last || one.piece.ended > last->piece.ended) last = &one;
      const std::int64_t worker = last ? last->worker : 0;
      const bool tasks_last = last && (!waited || last->piece.ended >= run.ended);
      for (PlacedPiece& one : run.tasks)
        if (tasks_last && one.worker == worker) one.piece.critical = true;
      at = waited ? runs[*run.waited_for].before : runs[*at].before;
    }
  }

  std::vector<TimePiece> finish(std::vector<PlacedRun>& all, double& end) const {
    mark_critical(all, runs_);
    std::vector<TimePiece> pieces;
    for (const PlacedRun& run : all) {
      end = std::max(end, run.ended);
      for (const auto* list : {&run.tasks, &run.messages})
        for (const PlacedPiece& one : *list) pieces.push_back(one.piece);
    }
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const TimePiece& a, const TimePiece& b) { return a.began < b.began; });
    std::map<TimeRow, std::vector<double>> lanes;  // when each is free
    for (TimePiece& piece : pieces) {
      std::vector<double>& of = lanes[row_of(trace_.events[piece.event])];
      auto lane = std::find_if(of.begin(), of.end(), [&](double until) { return until <= piece.began + 1e-3; });
      if (lane == of.end()) lane = of.insert(of.end(), 0);
      *lane = piece.ended;
      piece.lane = lane - of.begin();
    }
    return pieces;
  }

  const Trace& trace_;
  std::vector<BatchRun> runs_;
  std::vector<std::vector<std::int64_t>> batch_of_;                     // by run, before any is left out
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> sender_;  // by message: the run that sends it, the event
  TimeLine made_;
};

}  // namespace

TimeLine time_line_of(const Trace& trace, std::size_t most_events) { return TimeLineBuilder(trace, most_events).run(); }

}  // namespace tap::driver
