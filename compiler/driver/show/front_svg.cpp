// The front of `tapc plan` as a picture: a point for each plan, time across, memory upwards.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/show/drawing.h"
#include "compiler/driver/show/report_plans.h"
#include "compiler/driver/show/run_summary.h"
#include "support/byte_size.h"

namespace tap::driver {
namespace {

constexpr double width = 640, height = 420, left = 90, right = 30, top = 30, bottom = 60;

// From a range of numbers to one of pixels; a range of one number is its middle.
struct Scale {
  double lo, hi, from, to;
  double at(double value) const { return hi > lo ? from + (value - lo) / (hi - lo) * (to - from) : (from + to) / 2; }
};

template <class Number>
Scale scale_of(const std::vector<ReportedPlan>& plans, double from, double to, Number number) {
  Scale scale{number(plans.front()), number(plans.front()), from, to};
  for (const ReportedPlan& plan : plans) {
    scale.lo = std::min(scale.lo, number(plan));
    scale.hi = std::max(scale.hi, number(plan));
  }
  return scale;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format(R"(  <text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, anchor, xml_text(std::string(text)));
}

}  // namespace

std::string front_svg(const ReportedPlans& found) {
  const Scale time = scale_of(found.plans, left + 20, width - right - 20,
                              [](const ReportedPlan& plan) { return plan.predicted.seconds; });
  const Scale memory = scale_of(found.plans, height - bottom - 20, top + 20,
                                [](const ReportedPlan& plan) { return plan.predicted.memory; });
  double most = 0;
  for (const ReportedPlan& plan : found.plans) most = std::max(most, plan.predicted.traffic);
  std::string text = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif" font-size="12">)"
      "\n"
      R"(  <rect width="{0}" height="{1}" fill="#ffffff"/>)"
      "\n"
      R"(  <path d="M{2} {3}V{4}H{5}" fill="none" stroke="#374151"/>)"
      "\n",
      width, height, left, top, height - bottom, width - right);
  for (double value : {time.lo, time.hi}) {
    text += label(time.at(value), height - bottom + 18, "middle", duration_text(value));
    if (time.lo == time.hi) break;
  }
  for (double value : {memory.lo, memory.hi}) {
    text += label(left - 6, memory.at(value) + 4, "end", byte_size(value));
    if (memory.lo == memory.hi) break;
  }
  text += label((left + width - right) / 2, height - 14, "middle",
                "predicted time; the area is what the busiest device receives");
  text += label(left, top - 12, "middle", "memory per device");
  for (std::size_t k = 0; k < found.plans.size(); ++k) {
    const cost::Objectives& own = found.plans[k].predicted;
    text += fmt::format(
        R"(  <circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" fill-opacity="0.75" stroke="#111827"><title>{}</title></circle>)"
        "\n",
        time.at(own.seconds), memory.at(own.memory), 4 + (most > 0 ? 10 * std::sqrt(own.traffic / most) : 0),
        k == found.picked ? "#b4236a" : "#93c5fd",
        xml_text(fmt::format("plan {}: {}, {} per device, {} received, on {}", k + 1, duration_text(own.seconds),
                             byte_size(own.memory), byte_size(own.traffic), found.plans[k].mesh)));
  }
  return text + "</svg>\n";
}

}  // namespace tap::driver
