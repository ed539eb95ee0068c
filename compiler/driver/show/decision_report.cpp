#include "compiler/driver/show/decision_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/show/columns.h"
#include "ir/text/plan_text.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using cost::Alternative, cost::Amount, cost::Consideration;

bool is_about(const std::string& operation, const std::string& name) {
  return operation == name || operation.starts_with(name + ".");
}

// Without the first line, which is the version.
std::vector<std::string> lines_of(const std::vector<ir::Decision>& decisions) {
  ir::Plan plan;
  plan.decisions = decisions;
  std::vector<std::string> lines;
  const std::string text = ir::print(plan);
  for (std::size_t at = text.find('\n') + 1; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string called(const Alternative& alternative, const char* as_is) {
  return alternative.lines.empty() ? as_is : fmt::format("{}", fmt::join(lines_of(alternative.lines), "; "));
}

std::string why_not(const Alternative& other, const Alternative& taken) {
  if (!other.justified) return "not proved by the checker";
  const double slower = other.price.seconds / std::max(taken.price.seconds, 1e-12);
  if (slower >= 1.005) return fmt::format("{:.2f} x the time", slower);
  if (other.price.bytes > taken.price.bytes) return "more memory";
  return "within the accuracy of the model";
}

// The one taken, then the others, best first.
std::vector<const Alternative*> in_order(const Consideration& about) {
  std::vector<const Alternative*> order;
  for (const Alternative& one : about.alternatives) order.push_back(&one);
  std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(about.taken),
              order.begin() + static_cast<std::ptrdiff_t>(about.taken) + 1);
  std::stable_sort(order.begin() + 1, order.end(),
                   [](const Alternative* a, const Alternative* b) { return score(a->price) < score(b->price); });
  return order;
}

std::string table(const Consideration& about, const cost::Cluster& cluster) {
  constexpr std::size_t most = 8;
  const char* as_is = about.operations.size() > 1 ? "as they are" : "as it is";
  std::vector<const Alternative*> order = in_order(about);
  const std::size_t all = order.size();
  if (all > most) order.resize(most);
  std::vector<std::vector<Amount>> terms;
  for (const Alternative* one : order) terms.push_back(terms_of(one->price.cost, cluster, cluster.types.front()));
  std::vector<Line> lines{{"alternative", "", "time", "bytes"}};
  for (const Alternative* one : order)
    lines.push_back({called(*one, as_is), one == order.front() ? "taken" : why_not(*one, *order.front()),
                     time_text(one->price.seconds), bytes_text(one->price.bytes)});
  for (std::size_t t = 0; t < terms.front().size(); ++t) {
    if (std::all_of(terms.begin(), terms.end(), [&](const auto& one) { return one[t].value == 0; })) continue;
    lines[0].push_back(terms.front()[t].name);
    for (std::size_t k = 0; k < order.size(); ++k) lines[k + 1].push_back(time_text(terms[k][t].value));
  }
  std::string text;
  const std::string columns = driver::columns(lines, 2);
  for (std::size_t at = 0; at < columns.size();) {
    const std::size_t end = columns.find('\n', at) + 1;
    text += "    " + columns.substr(at, end - at);
    at = end;
  }
  if (all > most) text += fmt::format("    … {} more\n", all - most);
  return text;
}

}  // namespace

std::string why_decided(const std::vector<Consideration>& considered, const std::string& name,
                        const cost::Cluster& cluster) {
  std::string text;
  for (const Consideration& about : considered) {
    const auto& operations = about.operations;
    if (std::none_of(operations.begin(), operations.end(), [&](const auto& o) { return is_about(o, name); })) continue;
    text += fmt::format("  the cost model considered {} for {}:\n{}", plural(about.alternatives.size(), "alternative"),
                        fmt::join(operations, ", "), table(about, cluster));
  }
  return text;
}

std::string lines_about(const ir::Plan& plan, const std::string& name) {
  std::string text;
  for (const ir::Decision& decision : plan.decisions) {
    const std::string line = lines_of({decision}).front();
    for (std::size_t at = line.find(' '); at != line.npos && at + 1 < line.size(); at = line.find(' ', at + 1))
      if (is_about(line.substr(at + 1, line.find_first_of(" ,", at + 1) - at - 1), name)) {
        text += "  by the plan: " + line + "\n";
        break;
      }
  }
  return text;
}

}  // namespace tap::driver
