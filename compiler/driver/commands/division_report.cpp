#include "compiler/driver/commands/division_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/driver/show/columns.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using cost::Division, cost::Divisions;
using nlohmann::ordered_json;

struct DivisionTerm {
  const char* name;
  double Division::*seconds;
};
constexpr DivisionTerm division_terms[] = {{"loops", &Division::loops},
                                           {"operands", &Division::operands},
                                           {"partials", &Division::partials},
                                           {"results", &Division::results},
                                           {"others", &Division::others}};

// `split Y dim i into 4 over axis grid.x` as `i over x`; with its operation, if several are divided alike.
std::string short_division(const std::string& line, bool with_operation) {
  const std::size_t dim = line.find(" dim "), into = line.find(" into "), over = line.rfind('.');
  if (!line.starts_with("split ") || dim == line.npos || into == line.npos || line.find(" over axis ") == line.npos ||
      over == line.npos)
    return line;
  const std::string text = fmt::format("{} over {}", line.substr(dim + 5, into - dim - 5), line.substr(over + 1));
  return with_operation ? line.substr(6, dim - 6) + " " + text : text;
}

std::string division_name(const Division& division, bool with_operation) {
  std::vector<std::string> parts;
  for (const std::string& line : division.lines) parts.push_back(short_division(line, with_operation));
  return parts.empty() ? "not divided" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string division_remark(const Division& one, const Division& taken, double memory) {
  if (&one == &taken) return "as the plan says";
  if (one.predicted.memory > memory) return "more memory than a device has";
  constexpr double accuracy = 0.005;  // of the whole plan
  const double slower = one.predicted.seconds - taken.predicted.seconds;
  const bool is_alike = std::abs(slower) < 1e-12 || std::abs(slower) < accuracy * taken.predicted.seconds;
  std::string text = slower > 0 && !is_alike ? "slower by " + time_text(slower)
                     : is_alike              ? "the same time"
                                             : "faster by " + time_text(-slower);
  if (slower > 0 && !is_alike) return text;
  const double bytes = one.predicted.memory - taken.predicted.memory;
  const double received = one.predicted.traffic - taken.predicted.traffic;
  if (bytes > 0) text += fmt::format(", {} more memory", bytes_text(bytes));
  if (received > 0) text += fmt::format(", receives {} more", bytes_text(received));
  return text;
}

constexpr std::size_t most_divisions = 8;

std::string division_table(const Divisions& site, const cost::Cluster& cluster) {
  const std::size_t rows = std::min(site.list.size(), most_divisions);
  std::vector<Line> lines{{"division", "", "time", "memory", "received"}};
  for (std::size_t k = 0; k < rows; ++k) {
    const Division& one = site.list[k];
    lines.push_back({division_name(one, site.operations.size() > 1),
                     division_remark(one, site.list.front(), cluster.least_memory()), time_text(one.predicted.seconds),
                     bytes_text(one.predicted.memory), bytes_text(one.predicted.traffic)});
  }
  for (const DivisionTerm& term : division_terms) {
    const auto shown = std::span(site.list).first(rows);
    if (std::ranges::all_of(shown, [&](const Division& one) { return one.*term.seconds == 0; })) continue;
    lines[0].emplace_back(term.name);
    for (std::size_t k = 0; k < rows; ++k)
      lines[k + 1].push_back(shown[k].*term.seconds == 0 ? "-" : time_text(shown[k].*term.seconds));
  }
  std::string text;
  const std::string aligned = columns(lines, 2);
  for (std::size_t at = 0; at < aligned.size();) {
    const std::size_t end = aligned.find('\n', at) + 1;
    text += "    " + aligned.substr(at, end - at);
    at = end;
  }
  if (site.list.size() > rows) text += fmt::format("    … {} more\n", site.list.size() - rows);
  return text;
}

}  // namespace

std::string divisions_text(const std::vector<Divisions>& sites, const std::string& mesh, const cost::Cluster& cluster) {
  std::string text;
  for (const Divisions& site : sites)
    text += fmt::format("  {} to divide {} over {}, if the rest of the plan stays; predicted for {}, per device:\n{}",
                        site.list.size() == 1 ? "1 way" : fmt::format("{} ways", site.list.size()),
                        fmt::join(site.operations, ", "), mesh, site.of_a_trip ? "one trip" : "the program",
                        division_table(site, cluster));
  return text;
}

ordered_json divisions_json(const std::vector<Divisions>& sites, const cost::Cluster& cluster) {
  ordered_json out = ordered_json::array();
  for (const Divisions& site : sites) {
    ordered_json list = ordered_json::array();
    for (const Division& one : site.list) {
      ordered_json seconds = ordered_json::object();
      for (const DivisionTerm& term : division_terms)
        if (one.*term.seconds != 0) seconds[term.name] = one.*term.seconds;
      list.push_back({{"seconds", one.predicted.seconds},
                      {"memory", one.predicted.memory},
                      {"received", one.predicted.traffic},
                      {"terms", std::move(seconds)},
                      {"lines", one.lines},
                      {"remark", division_remark(one, site.list.front(), cluster.least_memory())}});
    }
    out.push_back({{"operations", site.operations}, {"of_a_trip", site.of_a_trip}, {"alternatives", std::move(list)}});
  }
  return out;
}

}  // namespace tap::driver
