#include "compiler/driver/metrics/trace_events.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "support/memory_failure.h"

namespace tap::driver {
namespace {

std::string_view category(CallKind kind) {
  switch (kind) {
    case CallKind::kernel: return "kernel";
    case CallKind::copy: return "copy";
    case CallKind::transfer: return "transfer";
    case CallKind::message: return "message";
    case CallKind::fill: return "fill";
    case CallKind::outside: return "outside";
  }
  return "";
}

std::string json_text(std::string_view text) { return nlohmann::json(text).dump(); }

class Events {
 public:
  Events(const Recording& recording, const PredictedRun& predicted, const TraceOptions& options)
      : recording_(recording), predicted_(predicted), options_(options) {}

  std::string run() {
    std::set<std::int64_t> senders;
    const std::vector<Recording::Task> tasks = recording_.tasks();
    for (const Recording::Message& message : recording_.messages())
      if (message.received) senders.insert(message.process);
    name("process_name", 0, fmt::format("process {}", options_.process));
    for (std::size_t thread = 0; thread < recording_.threads(); ++thread)
      name("thread_name", static_cast<std::int64_t>(thread), fmt::format("worker {}", thread));
    for (std::int64_t process : senders)
      name("thread_name", first_row_of_messages + process, fmt::format("from process {}", process));
    const std::vector<double> seconds = seconds_of_calls(recording_, tasks);
    auto message = recording_.messages().begin();
    for (std::size_t b = 0, t = 0; b < recording_.batches().size(); ++b) {
      for (; t < tasks.size() && tasks[t].batch == b; ++t) add(tasks[t], seconds[t]);
      for (; message != recording_.messages().end() && message->batch == b; ++message) add(*message);
      const Recording::Batch& batch = recording_.batches()[b];
      if (batch.waiting.began != 0) event("X", "wait for messages", "wait", 0, batch.waiting, "{" + place(batch) + "}");
    }
    return std::move(text_);
  }

 private:
  void line(std::string_view event) {
    if (!text_.empty()) text_ += ",\n";
    text_ += event;
  }
  void name(std::string_view what, std::int64_t row, std::string_view name) {
    line(fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what, options_.process, row,
                     json_text(name)));
  }
  double microseconds(std::int64_t time) const { return static_cast<double>(time - options_.origin) * 1e-3; }
  void event(std::string_view phase, std::string_view name, std::string_view kind, std::int64_t row,
             const executor::Interval& time, std::string_view arguments) {
    line(fmt::format(R"({{"name":{},"cat":"{}","ph":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{}}})",
                     json_text(name), kind, phase, options_.process, row, microseconds(time.began),
                     static_cast<double>(time.ended - time.began) * 1e-3, arguments));
  }
  static std::string place(const Recording::Batch& batch) {
    return fmt::format(R"("sequence":{},"batch":{},"trips":[{}])", batch.sequence, batch.batch,
                       fmt::join(batch.trips, ","));
  }
  static std::string device(std::int64_t number) { return number < 0 ? "null" : std::to_string(number); }
  static std::string arguments(const Recording::Batch& batch, const PredictedCall& call, bool moves) {
    std::string text = place(batch) + fmt::format(R"(,"task":{},"member":{},"what":{},"box":"{}","device":{})",
                                                  call.task, call.member, json_text(call.what), call.box,
                                                  device(call.device));
    if (moves) text += fmt::format(R"(,"from_device":{})", device(call.from));
    return text + fmt::format(R"(,"bytes":{:.0f},"operations":{:.0f})", call.bytes, call.operations);
  }
  static std::string beside(const PredictedCall& call, double seconds) {
    const std::string predicted = call.seconds ? fmt::format("{:.3f}", *call.seconds * 1e6) : "null";
    return fmt::format(R"(,"predicted_us":{},"measured_us":{:.3f})", predicted, seconds * 1e6);
  }

  void add(const Recording::Task& task, double seconds) {
    const Recording::Batch& batch = recording_.batches()[task.batch];
    const PredictedCall& call = predicted_.calls[batch.sequence][batch.batch][static_cast<std::size_t>(task.task)]
                                                [static_cast<std::size_t>(task.call)];
    event("X", call.name, category(call.kind), task.thread, task.time,
          fmt::format(R"({{{},"tiles":[{},{}],"of_tiles":{}{}}})",
                      arguments(batch, call, call.kind == CallKind::transfer), task.first, task.end, call.tiles,
                      beside(call, seconds)));
  }

  // Messages between two processes arrive in the order in which they were sent.
  void add(const Recording::Message& message) {
    const Recording::Batch& batch = recording_.batches()[message.batch];
    const PredictedCall& call =
        predicted_.calls[batch.sequence][batch.batch][static_cast<std::size_t>(message.task)].front();
    const std::int64_t from = message.received ? message.process : options_.process;
    const std::int64_t to = message.received ? options_.process : message.process;
    const std::int64_t id = (from * options_.processes + to) * (std::int64_t{1} << 32) + counts_[{from, to}]++;
    const std::int64_t row = message.received ? first_row_of_messages + from : 0;
    event("X", call.name, message.received ? "message" : "send", row, message.time,
          fmt::format(R"({{{},"message":{},"from_process":{},"to_process":{}{}}})", arguments(batch, call, true), id,
                      from, to, message.received ? beside(call, seconds_of(message.time)) : ""));
    const std::int64_t when = message.received ? message.time.ended : message.time.began;
    line(fmt::format(R"({{"name":{},"cat":"flow","ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f}{}}})",
                     json_text(call.name), message.received ? "f" : "s", id, options_.process, row, microseconds(when),
                     message.received ? R"(,"bp":"e")" : ""));
  }

  const Recording& recording_;
  const PredictedRun& predicted_;
  const TraceOptions& options_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts_;  // of messages, by sender and receiver
  std::string text_;
};

}  // namespace

std::string trace_events(const Recording& recording, const PredictedRun& predicted, const TraceOptions& options) {
  AllocationMustSucceed memory_guard;
  return Events(recording, predicted, options).run();
}

}  // namespace tap::driver
