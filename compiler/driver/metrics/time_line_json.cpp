#include "compiler/driver/metrics/time_line_json.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/driver/metrics/time_line.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_timed = 20'000;

// To the nanosecond.
double to_nanoseconds(double microseconds) { return std::round(microseconds * 1e3) / 1e3; }

Json pieces_json(const std::vector<TimePiece>& pieces, const std::map<std::size_t, std::size_t>& numbers) {
  Json out = Json::array();
  for (const TimePiece& piece : pieces)
    out.push_back(Json::array({numbers.at(piece.event), piece.lane, to_nanoseconds(piece.began),
                               to_nanoseconds(piece.ended), piece.critical ? 1 : 0}));
  return out;
}

}  // namespace

Json time_line_json(const Trace& trace, const std::string& file) {
  AllocationMustSucceed memory_guard;
  const TimeLine line = time_line_of(trace, most_timed);
  std::map<std::size_t, std::size_t> numbers;  // of the events that are shown
  for (const auto* pieces : {&line.measured, &line.predicted})
    for (const TimePiece& piece : *pieces) numbers.emplace(piece.event, 0);
  std::map<TimeRow, std::size_t> row_numbers;
  Json rows = Json::array();
  for (const TimeRow& row : line.rows) {
    row_numbers.emplace(row, rows.size());
    rows.push_back(Json::array({row.process, row.device < 0 ? Json() : Json(row.device)}));
  }
  Json events = Json::array();
  for (auto& [event, number] : numbers) {
    number = events.size();
    const TraceEvent& of = trace.events[event];
    events.push_back(Json::array({row_numbers.at(row_of(of)), name_of(of.kind), of.name, of.what, of.box, of.bytes,
                                  of.predicted ? Json(to_nanoseconds(*of.predicted)) : Json(), of.batch}));
  }
  return {{"file", file},
          {"rows", std::move(rows)},
          {"events", std::move(events)},
          {"measured", pieces_json(line.measured, numbers)},
          {"predicted", pieces_json(line.predicted, numbers)},
          {"measured_us", to_nanoseconds(line.measured_us)},
          {"predicted_us", to_nanoseconds(line.predicted_us)},
          {"kept", line.kept},
          {"count", line.count}};
}

}  // namespace tap::driver
