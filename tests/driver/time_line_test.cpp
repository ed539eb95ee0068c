// Time lines of traces whose numbers are given: where predictions lie, and which pieces are on the critical path.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/metrics/time_line.h"

namespace tap::driver {
namespace {

// A part of a call that worker `row` ran in a batch.
TraceEvent task(std::int64_t batch, std::int64_t number, std::int64_t row, double began, double ended,
                double predicted) {
  TraceEvent event;
  event.name = "c" + std::to_string(number);
  event.row = row;
  event.device = number;
  event.batch = {0, batch};
  event.task = number;
  event.began = began;
  event.ended = ended;
  event.predicted = predicted;
  return event;
}
// Of processes with one worker each.
Trace trace_of(std::vector<std::pair<std::int64_t, TraceEvent>> events) {
  Trace trace;
  for (auto& [process, event] : events) {
    event.process = process;
    trace.workers.resize(std::max(trace.workers.size(), static_cast<std::size_t>(process) + 1), 1);
    trace.events.push_back(std::move(event));
  }
  return trace;
}
TraceEvent message(TraceKind kind, std::int64_t number, std::int64_t batch, double began, double ended,
                   double predicted) {
  TraceEvent event = task(batch, 100 + number, 0, began, ended, predicted);
  event.kind = kind;
  event.message = number;
  return event;
}

using Spans = std::vector<std::pair<double, double>>;
Spans spans_of(const std::vector<TimePiece>& pieces) {
  Spans out;
  for (const TimePiece& piece : pieces) out.emplace_back(piece.began, piece.ended);
  return out;
}
std::string critical_in(const Trace& trace, const std::vector<TimePiece>& pieces) {
  std::string names;
  for (const TimePiece& piece : pieces)
    if (piece.critical) names += (names.empty() ? "" : " ") + trace.events[piece.event].name;
  return names;
}

// c0 and c1, predicted 2 and 1, on two workers: 3 in all. c0 is the longer one.
TEST(TimeLine, DividesTheTimeOfABatchAmongWorkers) {
  Trace trace;
  trace.workers = {2};
  trace.events = {task(0, 0, 0, 5, 7, 2), task(0, 1, 1, 5, 9, 1)};
  const TimeLine line = time_line_of(trace, 100);
  EXPECT_EQ(spans_of(line.predicted), (Spans{{0, 3}, {0, 1.5}}));
  EXPECT_EQ(spans_of(line.measured), (Spans{{5, 7}, {5, 9}}));
  EXPECT_EQ(critical_in(trace, line.predicted), "c0");
  EXPECT_EQ(critical_in(trace, line.measured), "c1");
  EXPECT_DOUBLE_EQ(line.predicted_us, 3);
  EXPECT_DOUBLE_EQ(line.measured_us, 9);
}

TEST(TimeLine, ACallOfTilesRunsOnAllWorkers) {
  Trace trace;
  trace.workers = {2};
  trace.events = {task(0, 0, 0, 0, 4, 4), task(0, 0, 1, 0, 4, 4), task(1, 0, 0, 5, 6, 1)};
  trace.events[0].tiles = trace.events[1].tiles = 8;
  const TimeLine line = time_line_of(trace, 100);
  EXPECT_EQ(spans_of(line.predicted), (Spans{{0, 4}, {0, 4}, {4, 5}}));
  EXPECT_EQ(line.predicted[0].event, line.predicted[1].event);
  EXPECT_EQ(line.measured[0].event, line.measured[1].event);
  EXPECT_NE(line.measured[0].lane, line.measured[1].lane);
}

// Both processes send to each other at the same time: neither prediction waits for the other's batch.
TEST(TimeLine, MessagesAreSentBeforeTheirBatchWaits) {
  const Trace trace = trace_of({{0, task(0, 0, 0, 0, 10, 10)},
                                {1, task(0, 1, 0, 0, 3, 3)},
                                {0, message(TraceKind::send, 7, 1, 10, 10, 0)},
                                {0, message(TraceKind::message, 8, 1, 10, 11, 1)},
                                {1, message(TraceKind::send, 8, 1, 3, 3, 0)},
                                {1, message(TraceKind::message, 7, 1, 3, 12, 2)},
                                {0, task(1, 2, 0, 11, 12, 1)},
                                {1, task(1, 3, 0, 3, 5, 2)}});
  const TimeLine line = time_line_of(trace, 100);
  // Process 1 waits for process 0, from 3 to 10; then the message takes 2, and its task 2.
  EXPECT_DOUBLE_EQ(line.predicted_us, 14);
  EXPECT_EQ(critical_in(trace, line.predicted), "c0 c107 c3");
  // As measured, both end at 12; the first one is taken.
  EXPECT_EQ(critical_in(trace, line.measured), "c0 c2");
}

TEST(TimeLine, TheMeasuredPathFollowsTheLastMessage) {
  const Trace trace = trace_of({{0, task(0, 0, 0, 0, 10, 10)},
                                {0, message(TraceKind::send, 7, 1, 10, 10, 0)},
                                {1, task(0, 1, 0, 0, 3, 3)},
                                {1, message(TraceKind::message, 7, 1, 3, 12, 2)},
                                {1, task(2, 3, 0, 12, 15, 3)}});
  const TimeLine line = time_line_of(trace, 100);
  EXPECT_EQ(critical_in(trace, line.measured), "c0 c107 c3");
  EXPECT_EQ(critical_in(trace, line.predicted), "c0 c107 c3");
}

TEST(TimeLine, KeepsWholeBatches) {
  Trace trace;
  trace.workers = {1};
  for (std::int64_t batch = 0; batch < 10; ++batch)
    for (std::int64_t k = 0; k < 3; ++k)
      trace.events.push_back(
          task(batch, k, 0, 10. * static_cast<double>(batch), 10. * static_cast<double>(batch) + 1, 1));
  const TimeLine line = time_line_of(trace, 8);
  EXPECT_EQ(line.kept, 6U);
  EXPECT_EQ(line.count, 30U);
  EXPECT_EQ(line.measured.size(), 6U);
  EXPECT_EQ(time_line_of(trace, 2).kept, 2U);  // the first batch alone has more
}

std::string mistake_of(const std::string& events,
                       const std::string& other = R"("format":"tap-trace","version":1,"program":"a","processes":2)") {
  const auto read = parse_trace(R"({"otherData":{)" + other + R"(},"traceEvents":[)" + events + "]}");
  const auto* mistake = std::get_if<JsonMistake>(&read);
  return mistake ? mistake->message : "";
}
TEST(ReadTrace, SaysWhatIsWrong) {
  const std::string good =
      R"({"ph":"X","pid":0,"tid":0,"name":"Y","cat":"kernel","ts":1,"dur":2.5,"args":{"sequence":0,"batch":0,"trips":[],)"
      R"("task":0,"member":0,"what":"kernel 0","box":"[0..1]","device":0,"bytes":4,"tiles":[0,1],"of_tiles":1,)"
      R"("predicted_us":1.5,"measured_us":2.5}})";
  auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(mistake_of(good), "");
  EXPECT_EQ(mistake_of(with("\"pid\":0", "\"pid\":2")), "`pid` must be an integer from 0 to 1");
  EXPECT_EQ(mistake_of(with("\"tid\":0", "\"tid\":5000")), "`tid` must be an integer from 0 to 4095");
  EXPECT_EQ(mistake_of(with("\"tid\":0,", "")), "the field `tid` is missing here");
  EXPECT_EQ(mistake_of(with("\"dur\":2.5", "\"dur\":-1")), "`dur` must not be negative");
  EXPECT_EQ(mistake_of(with("\"ts\":1", "\"ts\":1e99")), "`ts` must be a number of at most 1e+15");
  EXPECT_EQ(mistake_of(with("\"ts\":1", "\"ts\":\"now\"")), "`ts` must be a number of at most 1e+15");
  EXPECT_EQ(mistake_of(with("\"cat\":\"kernel\"", "\"cat\":\"party\"")), "`party` is not a kind of event");
  EXPECT_EQ(mistake_of(with("\"trips\":[]", "\"trips\":[-1]")),
            "`trips` must be an integer from 0 to 9223372036854775807");
  EXPECT_EQ(mistake_of("3"), "an event must be an object");
  EXPECT_EQ(mistake_of("{}]", ""), "invalid JSON from here");
  EXPECT_EQ(mistake_of("", ""), "the field `format` is missing here");
  EXPECT_EQ(mistake_of("", R"("format":"perf")"), "this is not a trace of tapc: `format` must be `tap-trace`");
  EXPECT_EQ(mistake_of("", R"("format":"tap-trace","version":2)"), "this version of the format is not known");
}

}  // namespace
}  // namespace tap::driver
