#include "compiler/driver/show/cost_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "compiler/driver/show/columns.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

using Lines = std::vector<std::string>;

// What A has and B lacks, in A's order; equal lines count.
Lines only_in(const Lines& a, const Lines& b) {
  std::map<std::string, std::size_t> left;
  for (const std::string& line : b) ++left[line];
  Lines only;
  for (const std::string& line : a) {
    std::size_t& count = left[line];
    if (count > 0) --count;
    else only.push_back(line);
  }
  return only;
}

struct ChangedSharding {
  std::string value;
  std::optional<std::string> a, b;  // of a value that both have, or one of them
};
std::vector<ChangedSharding> changed_shardings(const ComparedProgram& a, const ComparedProgram& b) {
  std::map<std::string, std::string> of_b(b.shardings.begin(), b.shardings.end());
  std::vector<ChangedSharding> changed;
  for (const auto& [value, sharding] : a.shardings) {
    auto at = of_b.find(value);
    const std::optional<std::string> other = at == of_b.end() ? std::nullopt : std::optional(at->second);
    if (other != sharding) changed.push_back({value, sharding, other});
    if (at != of_b.end()) of_b.erase(at);
  }
  for (const auto& [value, sharding] : b.shardings)
    if (of_b.count(value)) changed.push_back({value, std::nullopt, sharding});
  return changed;
}

struct ChangedOperation {
  std::string name;
  std::optional<double> a, b;  // seconds, of all its tasks
  double by() const { return std::abs(a.value_or(0) - b.value_or(0)); }
};
// Largest difference first. Differences below a thousandth of the program's time are left out.
std::vector<ChangedOperation> changed_operations(const CostReport& a, const CostReport& b) {
  std::vector<ChangedOperation> all;
  std::map<std::string, std::size_t> known;
  auto add = [&](const CostReport& report, std::optional<double> ChangedOperation::*side) {
    for (const cost::CostRow& row : report.cost.rows) {
      auto [at, fresh] = known.emplace(row.name, all.size());
      if (fresh) all.push_back({row.name, {}, {}});
      std::optional<double>& seconds = all[at->second].*side;
      seconds = seconds.value_or(0) + row.cost.total();
    }
  };
  add(a, &ChangedOperation::a);
  add(b, &ChangedOperation::b);
  const double least = std::max(a.cost.total.total(), b.cost.total.total()) / 1000;
  std::erase_if(all, [&](const ChangedOperation& one) { return one.by() < least || one.by() == 0; });
  std::stable_sort(all.begin(), all.end(), [](const auto& x, const auto& y) { return x.by() > y.by(); });
  return all;
}

std::string ratio(double a, double b) { return a > 0 ? fmt::format("{:.2f}", b / a) : "-"; }

struct Quantity {
  const char* name;
  double a, b;
  std::string (*text)(double);
};
std::vector<Quantity> quantities(const ComparedProgram& a, const ComparedProgram& b) {
  const MemoryCost &m = a.report.memory, &n = b.report.memory;
  const double seconds_a = a.report.cost.total.total(), seconds_b = b.report.cost.total.total();
  return {{"time", seconds_a, seconds_b, time_text},
          {"arithmetic", a.report.cost.total.operations, b.report.cost.total.operations, count_text},
          {"memory", m.peak(), n.peak(), bytes_text},
          {"  intermediates", m.arena, n.arena, bytes_text},
          {"  prepared operands", m.prepared, n.prepared, bytes_text},
          {"  scratch", m.scratch, n.scratch, bytes_text},
          {"received by one device", a.traffic.busiest, b.traffic.busiest, bytes_text},
          {"received by all", a.traffic.bytes, b.traffic.bytes, bytes_text},
          {"messages", a.traffic.messages, b.traffic.messages, count_text}};
}

std::string section(const char* title, const Lines& a, const Lines& b) {
  std::string text;
  for (const std::string& line : only_in(a, b)) text += "- " + line + "\n";
  for (const std::string& line : only_in(b, a)) text += "+ " + line + "\n";
  return text.empty() ? "" : fmt::format("\n{}:\n{}", title, text);
}

nlohmann::ordered_json json_of(const std::optional<double>& seconds) {
  return seconds ? nlohmann::ordered_json(*seconds) : nlohmann::ordered_json(nullptr);
}
nlohmann::ordered_json json_of(const std::optional<std::string>& text) {
  return text ? nlohmann::ordered_json(*text) : nlohmann::ordered_json(nullptr);
}
nlohmann::ordered_json json_of(const ComparedProgram& program) {
  const cost::Traffic& traffic = program.traffic;
  return {{"name", program.name},
          {"seconds", program.report.cost.total.total()},
          {"operations", program.report.cost.total.operations},
          {"memory", json_of(program.report.memory)},
          {"received", {{"busiest", traffic.busiest}, {"bytes", traffic.bytes}, {"messages", traffic.messages}}}};
}
nlohmann::ordered_json json_of(const Lines& a, const Lines& b) { return {{"a", only_in(a, b)}, {"b", only_in(b, a)}}; }

}  // namespace

std::string diff_table(const ComparedProgram& a, const ComparedProgram& b) {
  std::vector<Line> lines{{"", "A", "B", "B / A"}};
  for (const Quantity& one : quantities(a, b))
    if (one.a != 0 || one.b != 0) lines.push_back({one.name, one.text(one.a), one.text(one.b), ratio(one.a, one.b)});
  std::string text = fmt::format("A: {}\nB: {}\n\n{}", a.name, b.name, columns(lines, 1));
  text += section("plan", a.plan, b.plan) + section("collectives", a.moves, b.moves);

  std::vector<Line> shardings;
  for (const ChangedSharding& one : changed_shardings(a, b))
    shardings.push_back({one.value, one.a.value_or("(no such value)"), "->", one.b.value_or("(no such value)")});
  if (!shardings.empty()) text += "\nshardings:\n" + columns(shardings, 4);

  constexpr std::size_t most = 20;
  const std::vector<ChangedOperation> operations = changed_operations(a.report, b.report);
  std::vector<Line> times{{"operation", "A", "B"}};
  for (const ChangedOperation& one : operations) {
    if (times.size() > most) break;
    times.push_back({one.name, time_text(one.a.value_or(0)), time_text(one.b.value_or(0))});
  }
  if (!operations.empty()) text += "\n" + columns(times, 1);
  if (operations.size() > most) text += fmt::format("… {} more; --json lists all\n", operations.size() - most);
  if (text.find("\n\n", text.find("B / A")) == text.npos) text += "\nno difference in plan, shardings or operations\n";
  return text;
}

std::string diff_json(const ComparedProgram& a, const ComparedProgram& b) {
  AllocationMustSucceed memory_guard;
  nlohmann::ordered_json shardings = nlohmann::ordered_json::array(), operations = nlohmann::ordered_json::array();
  for (const ChangedSharding& one : changed_shardings(a, b))
    shardings.push_back({{"value", one.value}, {"a", json_of(one.a)}, {"b", json_of(one.b)}});
  for (const ChangedOperation& one : changed_operations(a.report, b.report))
    operations.push_back({{"operation", one.name}, {"a", json_of(one.a)}, {"b", json_of(one.b)}});
  return nlohmann::ordered_json({{"format", "tap-diff"},
                                 {"version", 1},
                                 {"a", json_of(a)},
                                 {"b", json_of(b)},
                                 {"plan", json_of(a.plan, b.plan)},
                                 {"collectives", json_of(a.moves, b.moves)},
                                 {"shardings", shardings},
                                 {"operations", operations}})
             .dump(1) +
         "\n";
}

}  // namespace tap::driver
