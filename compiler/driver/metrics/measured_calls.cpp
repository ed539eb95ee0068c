#include "compiler/driver/metrics/measured_calls.h"

#include <array>
#include <map>

namespace tap::driver {

std::vector<double> seconds_of_calls(const Recording& recording, const std::vector<Recording::Task>& tasks) {
  std::vector<double> threads(recording.batches().size());  // seconds of threads, by batch
  for (const Recording::Task& task : tasks) threads[task.batch] += seconds_of(task.time);
  std::vector<double> seconds(tasks.size());
  for (std::size_t first = 0, end = 0; first < tasks.size(); first = end) {
    const Recording::Task& one = tasks[first];
    double own = 0;
    for (end = first; end < tasks.size() && tasks[end].batch == one.batch && tasks[end].task == one.task &&
                      tasks[end].call == one.call;
         ++end)
      own += seconds_of(tasks[end].time);
    const double all = threads[one.batch];
    const double its = all > 0 ? working_seconds(recording.batches()[one.batch]) * own / all : 0;
    for (std::size_t t = first; t < end; ++t) seconds[t] = its;
  }
  return seconds;
}

std::vector<MeasuredCall> measure(const Recording& recording, const PredictedRun& predicted) {
  using Key = std::array<std::size_t, 5>;  // sequence, batch, task, call, process at the other end
  std::map<Key, MeasuredCall> found;
  auto add = [&](std::size_t batch, std::int64_t task, std::int64_t number, std::int64_t process, double seconds) {
    const Recording::Batch& of = recording.batches()[batch];
    const auto position = static_cast<std::size_t>(task), call = static_cast<std::size_t>(number);
    MeasuredCall& one = found[{of.sequence, of.batch, position, call, static_cast<std::size_t>(process)}];
    one.call = &predicted.calls[of.sequence][of.batch][position][call];
    one.sequence = of.sequence;
    one.batch = of.batch;
    one.process = process;
    ++one.runs;
    one.seconds += seconds;
  };
  const std::vector<Recording::Task> tasks = recording.tasks();
  const std::vector<double> seconds = seconds_of_calls(recording, tasks);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const bool again = t > 0 && tasks[t].batch == tasks[t - 1].batch && tasks[t].task == tasks[t - 1].task &&
                       tasks[t].call == tasks[t - 1].call;
    if (!again) add(tasks[t].batch, tasks[t].task, tasks[t].call, 0, seconds[t]);
  }
  for (const Recording::Message& message : recording.messages())
    if (message.received && message.batch < recording.batches().size())
      add(message.batch, message.task, 0, message.process, seconds_of(message.time));
  std::vector<MeasuredCall> all;
  for (auto& [key, one] : found) all.push_back(one);
  return all;
}

}  // namespace tap::driver
