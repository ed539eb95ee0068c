#include "compiler/driver/show/decision_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/driver/show/columns.h"
#include "ir/shardings/mesh_names.h"
#include "ir/text/plan_text.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using cost::Alternative, cost::Amount, cost::Consideration;
using nlohmann::ordered_json;

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
  return "the same time, within the accuracy of the model";
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

struct PricedRow {
  std::string name, remark;
  const cost::Prediction* price = nullptr;  // null: none
  double memory = 0;
};

std::string indented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    out += "    " + text.substr(at, end - at);
    at = end;
  }
  return out;
}

// A column for each term that some row has. Pre: the first row has a price.
std::string table(const char* title, std::vector<PricedRow> rows, const cost::Cluster& cluster) {
  constexpr std::size_t most = 8;
  const std::size_t all = rows.size();
  if (all > most) rows.resize(most);
  std::vector<std::vector<Amount>> terms;
  const cost::Cost none{};
  for (const PricedRow& row : rows)
    terms.push_back(terms_of(row.price ? row.price->cost : none, cluster, cluster.types.front()));
  const bool moves = std::any_of(rows.begin(), rows.end(),
                                 [](const PricedRow& row) { return row.price && row.price->cost.received > 0; });
  std::vector<Line> lines{{title, "", "time", "bytes"}};
  if (moves) lines[0].emplace_back("received");
  for (const PricedRow& row : rows) {
    lines.push_back({row.name, row.remark, row.price ? time_text(row.price->seconds) : "-",
                     row.price ? bytes_text(row.memory) : "-"});
    if (moves) lines.back().push_back(row.price ? bytes_text(row.price->cost.received) : "-");
  }
  for (std::size_t t = 0; t < terms.front().size(); ++t) {
    auto is_zero = [&](const std::vector<Amount>& one) { return t >= one.size() || one[t].value == 0; };
    if (std::all_of(terms.begin(), terms.end(), is_zero)) continue;
    lines[0].push_back(terms.front()[t].name);
    for (std::size_t k = 0; k < rows.size(); ++k)
      lines[k + 1].push_back(is_zero(terms[k]) ? "-" : time_text(terms[k][t].value));
  }
  std::string text = indented(driver::columns(lines, 2));
  if (all > most) text += fmt::format("    … {} more\n", all - most);
  return text;
}

std::string table(const Consideration& about, const cost::Cluster& cluster) {
  const char* as_is = about.operations.size() > 1 ? "as they are" : "as it is";
  const std::vector<const Alternative*> order = in_order(about);
  std::vector<PricedRow> rows;
  for (const Alternative* one : order)
    rows.push_back({called(*one, as_is), one == order.front() ? "taken" : why_not(*one, *order.front()), &one->price,
                    one->price.bytes});
  return table("alternative", std::move(rows), cluster);
}

ordered_json price_json(const cost::Prediction& price, double memory, const cost::Cluster& cluster) {
  ordered_json terms = ordered_json::object();
  for (const Amount& term : terms_of(price.cost, cluster, cluster.types.front()))
    if (term.value != 0) terms[term.name] = term.value;
  return {{"seconds", price.seconds}, {"memory", memory}, {"received", price.cost.received}, {"terms", terms}};
}

}  // namespace

bool is_about(const std::string& operation, const std::string& name) {
  return operation == name || operation.starts_with(name + ".") || operation.starts_with(name + "/");
}

std::vector<Consideration> considered_about(const std::vector<Consideration>& considered, const std::string& name) {
  std::vector<Consideration> found;
  for (const Consideration& about : considered)
    if (std::ranges::any_of(about.operations, [&](const std::string& o) { return is_about(o, name); }))
      found.push_back(about);
  return found;
}

std::string why_decided(const std::vector<Consideration>& considered, const cost::Cluster& cluster) {
  std::string text;
  for (const Consideration& about : considered) {
    const std::string& first = about.operations.front();
    const std::size_t slash = first.rfind('/');
    const std::string where =
        slash == first.npos ? "" : fmt::format(" in the body of {}, for one trip", first.substr(0, slash));
    text += fmt::format("  the cost model considered {} for {}{}:\n{}",
                        plural(about.alternatives.size(), "alternative"), fmt::join(about.operations, ", "), where,
                        table(about, cluster));
  }
  return text;
}

std::string nothing_decided(const ir::Graph& graph, ir::ValueId value, const ir::Program& program) {
  for (const ir::Operation& operation : graph.operations) {
    const ir::RegionBody* region = program[operation.op].region();
    if (!region || region->kind != ir::RegionKind::iterate || std::ranges::count(operation.results, value) == 0)
      continue;
    return fmt::format(
        "  the cost model had no alternatives for the {} of its body: no operations that could be fused,\n"
        "  and no steps that could run several at a time, which saves time where their values exceed the caches\n",
        plural(program[region->graph].operations.size(), "operation"));
  }
  return "";
}

std::string other_shardings(const std::vector<cost::PricedSharding>& alternatives, const ir::Program& program,
                            const cost::Cluster& cluster) {
  if (alternatives.size() < 2 || !alternatives.front().price) return "";
  const double now = std::max(alternatives.front().price->seconds, 1e-12);
  std::vector<const cost::PricedSharding*> order;
  for (const cost::PricedSharding& one : alternatives) order.push_back(&one);
  auto rank = [](const cost::PricedSharding* one) { return one->price ? one->price->seconds : HUGE_VAL; };
  std::stable_sort(order.begin() + 1, order.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  std::vector<PricedRow> rows;
  for (const cost::PricedSharding* one : order) {
    const std::string remark = one->as_it_is ? "as it is"
                               : one->price  ? fmt::format("{:.2f} x the time", one->price->seconds / now)
                                             : "contradicts another sharding";
    rows.push_back(
        {to_string(program.meshes, one->sharding), remark, one->price ? &*one->price : nullptr, one->memory});
  }
  return "  its sharding and the alternatives, with the predicted cost per device:\n" +
         table("sharding", std::move(rows), cluster);
}

ordered_json decisions_json(const std::vector<Consideration>& considered, const cost::Cluster& cluster) {
  ordered_json out = ordered_json::array();
  for (const Consideration& about : considered) {
    ordered_json alternatives = ordered_json::array();
    for (const Alternative* one : in_order(about)) {
      const bool taken = alternatives.empty();
      ordered_json price = price_json(one->price, one->price.bytes, cluster);
      price["lines"] = lines_of(one->lines);
      price["remark"] = taken ? "taken" : why_not(*one, about.alternatives[about.taken]);
      alternatives.push_back(std::move(price));
    }
    out.push_back({{"operations", about.operations}, {"alternatives", std::move(alternatives)}});
  }
  return out;
}

ordered_json alternatives_json(const std::vector<cost::PricedSharding>& alternatives, const ir::Program& program,
                               const cost::Cluster& cluster) {
  ordered_json out = ordered_json::array();
  for (const cost::PricedSharding& one : alternatives) {
    ordered_json price = one.price ? price_json(*one.price, one.memory, cluster) : ordered_json::object();
    price["sharding"] = to_string(program.meshes, one.sharding);
    price["as_it_is"] = one.as_it_is;
    out.push_back(std::move(price));
  }
  return out;
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
