#include "compiler/driver/metrics/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "compiler/driver/metrics/trace_events.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

constexpr std::int64_t most_processes = 1 << 20, most_workers = 4096;
constexpr std::int64_t most_tiles = std::int64_t{1} << 40, most_devices = 1 << 24;
constexpr double longest = 1e15;  // microseconds: thirty years
constexpr std::size_t deepest_trips = 32;

struct TraceKindName {
  TraceKind kind;
  std::string_view name;
};
constexpr TraceKindName trace_kinds[] = {{TraceKind::kernel, "kernel"},     {TraceKind::copy, "copy"},
                                         {TraceKind::transfer, "transfer"}, {TraceKind::fill, "fill"},
                                         {TraceKind::outside, "outside"},   {TraceKind::send, "send"},
                                         {TraceKind::message, "message"},   {TraceKind::wait, "wait"}};

using Kind = LocatedJson::Kind;

// The member of that name; null if it is missing.
const LocatedJson* member_named(const LocatedJson& object, std::string_view name) {
  for (std::size_t k = 0; k < object.names.size(); ++k)
    if (object.names[k].text == name) return &object.items[k];
  return nullptr;
}
const LocatedJson& member_of(const LocatedJson& object, std::string_view name, Kind kind, std::string_view what) {
  const LocatedJson* found = member_named(object, name);
  if (!found) throw JsonMistake{fmt::format("the field `{}` is missing here", name), object.at};
  if (found->kind != kind) throw JsonMistake{fmt::format("`{}` must be {}", name, what), found->at};
  return *found;
}
const std::string& text_of(const LocatedJson& object, std::string_view name) {
  return member_of(object, name, Kind::text, "a string").text;
}
std::int64_t bounded(const LocatedJson& value, std::string_view name, std::int64_t most) {
  if (value.kind != Kind::whole || value.whole < 0 || value.whole > most)
    throw JsonMistake{fmt::format("`{}` must be an integer from 0 to {}", name, most), value.at};
  return value.whole;
}
std::int64_t whole_of(const LocatedJson& object, std::string_view name, std::int64_t most) {
  const LocatedJson* found = member_named(object, name);
  if (!found) throw JsonMistake{fmt::format("the field `{}` is missing here", name), object.at};
  return bounded(*found, name, most);
}

class TraceReader {
 public:
  TraceReader(std::string_view text, const LocatedJson& top) : text_(text), top_(top) {}

  Trace run() {
    if (top_.kind != Kind::object) throw JsonMistake{"a trace must be an object", top_.at};
    const LocatedJson& about = member_of(top_, "otherData", Kind::object, "an object");
    const LocatedJson& format = member_of(about, "format", Kind::text, "a string");
    if (format.text != "tap-trace")
      throw JsonMistake{"this is not a trace of tapc: `format` must be `tap-trace`", format.at};
    if (whole_of(about, "version", INT32_MAX) != 1)
      throw JsonMistake{"this version of the format is not known", member_named(about, "version")->at};
    const LocatedJson& program = member_of(about, "program", Kind::text, "a string");
    trace_.program = program.text;
    trace_.program_at = program.at;
    if (member_named(about, "plan")) trace_.plan = text_of(about, "plan");
    const std::int64_t processes = whole_of(about, "processes", most_processes);
    trace_.workers.assign(static_cast<std::size_t>(std::max<std::int64_t>(processes, 1)), 1);
    for (const LocatedJson& event : member_of(top_, "traceEvents", Kind::list, "a list").items) add(event);
    return std::move(trace_);
  }

 private:
  double number(const LocatedJson& object, std::string_view name) const {
    const LocatedJson* found = member_named(object, name);
    if (!found) throw JsonMistake{fmt::format("the field `{}` is missing here", name), object.at};
    return number_in(*found, name);
  }
  double number_in(const LocatedJson& value, std::string_view name) const {
    double result = 0;
    const std::string_view digits = text_.substr(value.at.begin, value.at.end - value.at.begin);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    const bool is_number = value.kind == Kind::whole || value.kind == Kind::number;
    if (!is_number || error != std::errc() || end != digits.data() + digits.size() || !(std::fabs(result) <= longest))
      throw JsonMistake{fmt::format("`{}` must be a number of at most {:g}", name, longest), value.at};
    return result;
  }

  void add(const LocatedJson& event) {
    if (event.kind != Kind::object) throw JsonMistake{"an event must be an object", event.at};
    const std::string& phase = text_of(event, "ph");
    if (phase != "M" && phase != "X") return;  // the ends of arrows: messages have numbers
    TraceEvent made;
    made.process = whole_of(event, "pid", static_cast<std::int64_t>(trace_.workers.size()) - 1);
    made.row = whole_of(event, "tid", first_row_of_messages + most_processes);
    const bool of_worker = made.row < first_row_of_messages;
    if (of_worker) bounded(*member_named(event, "tid"), "tid", most_workers - 1);
    std::int64_t& workers = trace_.workers[static_cast<std::size_t>(made.process)];
    if (of_worker) workers = std::max(workers, made.row + 1);
    if (phase == "M") return;
    made.name = text_of(event, "name");
    const LocatedJson& category = member_of(event, "cat", Kind::text, "a string");
    const auto* kind = std::find_if(std::begin(trace_kinds), std::end(trace_kinds),
                                    [&](const TraceKindName& known) { return known.name == category.text; });
    if (kind == std::end(trace_kinds))
      throw JsonMistake{fmt::format("`{}` is not a kind of event", category.text), category.at};
    made.kind = kind->kind;
    made.began = number(event, "ts");
    const double duration = number(event, "dur");
    if (duration < 0) throw JsonMistake{"`dur` must not be negative", member_named(event, "dur")->at};
    made.ended = made.began + duration;
    add_arguments(member_of(event, "args", Kind::object, "an object"), made);
    trace_.events.push_back(std::move(made));
  }

  void add_arguments(const LocatedJson& of, TraceEvent& to) const {
    to.batch = {whole_of(of, "sequence", INT32_MAX), whole_of(of, "batch", INT32_MAX)};
    const LocatedJson& trips = member_of(of, "trips", Kind::list, "a list");
    if (trips.items.size() > deepest_trips)
      throw JsonMistake{fmt::format("`trips` has more than {} entries", deepest_trips), trips.at};
    for (const LocatedJson& trip : trips.items) to.batch.push_back(bounded(trip, "trips", INT64_MAX));
    if (to.kind == TraceKind::wait) return;
    to.task = whole_of(of, "task", INT64_MAX);
    to.member = whole_of(of, "member", INT64_MAX);
    to.what = text_of(of, "what");
    to.box = text_of(of, "box");
    to.bytes = number(of, "bytes");
    if (const LocatedJson* device = member_named(of, "device"); device && device->kind != Kind::null)
      to.device = bounded(*device, "device", most_devices);
    if (member_named(of, "of_tiles")) to.tiles = std::max<std::int64_t>(1, whole_of(of, "of_tiles", most_tiles));
    if (to.kind == TraceKind::send || to.kind == TraceKind::message) to.message = whole_of(of, "message", INT64_MAX);
    if (to.kind == TraceKind::send) return;
    to.measured = number(of, "measured_us");
    if (const LocatedJson* predicted = member_named(of, "predicted_us"); predicted && predicted->kind != Kind::null) {
      to.predicted = number_in(*predicted, "predicted_us");
      if (*to.predicted < 0) throw JsonMistake{"`predicted_us` must not be negative", predicted->at};
    }
  }

  std::string_view text_;
  const LocatedJson& top_;
  Trace trace_;
};

}  // namespace

std::string_view name_of(TraceKind kind) {
  return std::find_if(std::begin(trace_kinds), std::end(trace_kinds),
                      [&](const TraceKindName& known) { return known.kind == kind; })
      ->name;
}

std::variant<Trace, JsonMistake> parse_trace(std::string_view text) {
  AllocationMustSucceed memory_guard;
  auto parsed = parse_located_json(text);
  if (auto* mistake = std::get_if<JsonMistake>(&parsed)) return std::move(*mistake);
  try {
    return TraceReader(text, std::get<LocatedJson>(parsed)).run();
  } catch (JsonMistake& mistake) { return std::move(mistake); }
}

}  // namespace tap::driver
