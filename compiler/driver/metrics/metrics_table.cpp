#include "compiler/driver/metrics/metrics_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "compiler/driver/show/columns.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using Json = nlohmann::ordered_json;

// All shards of one operation, or all its transfers.
struct Sum {
  std::string operation, what;
  std::int64_t shards = 0;
  double runs = 0, bytes = 0, operations = 0;
  double measured = 0, predicted = 0;
  bool is_predicted = true;
  double error() const { return is_predicted ? std::abs(measured - predicted) : 0; }
};

std::vector<Sum> sums_of(const Json& metrics) {
  std::vector<Sum> sums;
  for (const char* list : {"tasks", "transfers"})
    for (const Json& row : metrics[list]) {
      const auto operation = row["operation"].get<std::string>(), what = row["what"].get<std::string>();
      auto known = std::find_if(sums.begin(), sums.end(),
                                [&](const Sum& sum) { return sum.operation == operation && sum.what == what; });
      if (known == sums.end()) known = sums.insert(sums.end(), Sum{operation, what});
      ++known->shards;
      known->runs += row["runs"].get<double>();
      known->bytes += row["bytes"].get<double>();
      known->operations += row.value("operations", 0.0);
      known->measured += row["measured"].get<double>();
      if (row["predicted"].is_null()) known->is_predicted = false;
      else known->predicted += row["predicted"].get<double>();
    }
  return sums;
}

std::string table(const char* title, std::vector<Sum> sums, std::size_t most,
                  const std::function<double(const Sum&)>& key) {
  std::stable_sort(sums.begin(), sums.end(), [&](const Sum& a, const Sum& b) { return key(a) > key(b); });
  std::vector<Line> lines{
      {title, "task", "shards", "runs", "measured", "predicted", "ratio", "bytes/s", "operations/s"}};
  for (const Sum& sum : sums) {
    if (lines.size() > most || key(sum) <= 0) break;
    const bool has_ratio = sum.is_predicted && sum.predicted > 0;
    lines.push_back({sum.operation, sum.what, std::to_string(sum.shards), fmt::format("{:.0f}", sum.runs),
                     time_text(sum.measured), sum.is_predicted ? time_text(sum.predicted) : "-",
                     has_ratio ? fmt::format("{:.2f}", sum.measured / sum.predicted) : "-",
                     sum.measured > 0 ? bytes_text(sum.bytes / sum.measured) : "-",
                     sum.operations > 0 && sum.measured > 0 ? count_text(sum.operations / sum.measured) : "-"});
  }
  return columns(lines, 2);
}

}  // namespace

std::string metrics_tables(const Json& metrics, std::size_t most) {
  const std::vector<Sum> sums = sums_of(metrics);
  std::string text = table("slowest tasks", sums, most, [](const Sum& sum) { return sum.measured; }) + "\n" +
                     table("worst predictions", sums, most, [](const Sum& sum) { return sum.error(); });
  for (const Json& process : metrics["processes"])
    text += fmt::format("{}process {}: {} measured, {} predicted, on {}\n",
                        process["process"].get<std::int64_t>() == 0 ? "\n" : "", process["process"].get<std::int64_t>(),
                        time_text(process["measured"].get<double>()), time_text(process["predicted"].get<double>()),
                        plural(process["threads"].get<std::uint64_t>(), "thread"));
  return text;
}

}  // namespace tap::driver
