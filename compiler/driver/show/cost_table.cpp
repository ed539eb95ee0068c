#include "compiler/driver/show/cost_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/driver/show/columns.h"
#include "support/memory_failure.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using cost::Amount, cost::Cost;

nlohmann::ordered_json object_of(const std::vector<Amount>& amounts) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Amount& amount : amounts) object[amount.name] = amount.value;
  return object;
}

nlohmann::ordered_json json_of(const Cost& cost, const cost::Model& model) {
  return {{"seconds", cost.total()},
          {"terms", object_of(terms_of(cost, model.cluster(), model.device()))},
          {"amounts", object_of(quantities_of(cost, model.device()))}};
}

}  // namespace

nlohmann::ordered_json json_of(const MemoryCost& memory) {
  return {{"peak", memory.peak()}, {"inputs", memory.inputs},     {"outputs", memory.outputs},
          {"arena", memory.arena}, {"prepared", memory.prepared}, {"scratch", memory.scratch}};
}

std::string cost_table(const CostReport& report, const cost::Model& model) {
  const Cost& total = report.cost.total;
  std::vector<Amount> terms = terms_of(total, model.cluster(), model.device());
  std::vector<bool> shown;  // an empty column is omitted
  for (const Amount& term : terms) {
    bool is_shown = term.value != 0;
    shown.push_back(is_shown);
  }
  Line head{"operation", "task", "total"};
  for (std::size_t t = 0; t < terms.size(); ++t)
    if (shown[t]) head.push_back(terms[t].name);
  std::vector<Line> lines{head};
  auto add = [&](std::string name, std::string what, const Cost& cost) {
    Line line{std::move(name), std::move(what), time_text(cost.total())};
    const std::vector<Amount> own = terms_of(cost, model.cluster(), model.device());
    for (std::size_t t = 0; t < terms.size(); ++t)
      if (shown[t]) line.push_back(time_text(t < own.size() ? own[t].value : 0));
    lines.push_back(std::move(line));
  };
  for (const cost::CostRow& row : report.cost.rows)
    add(row.name, row.times == 1 ? row.what : fmt::format("{}, {:.0f} times", row.what, row.times), row.cost);
  add("total", "", total);
  std::string text = columns(lines, 2) + "\n";
  const double seconds = total.total();
  text += fmt::format("{} operations, {}operations/s; {} of vector lanes used\n", count_text(total.operations),
                      count_text(seconds > 0 ? total.operations / seconds : 0),
                      total.lanes > 0 ? fmt::format("{:.1f} %", 100 * total.lanes_used / total.lanes) : "none");
  for (std::size_t l = 1; l < total.bytes.size(); ++l)
    text += fmt::format("{}{} from {}", l == 1 ? "moved: " : ", ", bytes_text(total.bytes[l]),
                        model.device().levels[l].name);
  if (total.bytes.size() > 1) text += "\n";
  const MemoryCost& memory = report.memory;
  text += fmt::format("peak memory: {} ({} inputs, {} results, {} intermediates, {} prepared operands, {} scratch)\n",
                      bytes_text(memory.peak()), bytes_text(memory.inputs), bytes_text(memory.outputs),
                      bytes_text(memory.arena), bytes_text(memory.prepared), bytes_text(memory.scratch));
  for (const cost::Price& price : model.device().prices)
    text += fmt::format("{}: {:.6g}\n", price.name, price.per_second * seconds);
  return text;
}

std::string cost_json(const CostReport& report, const cost::Model& model) {
  AllocationMustSucceed memory_guard;
  nlohmann::ordered_json out = {
      {"format", "tap-cost"}, {"version", 1}, {"file", report.file}, {"threads", model.threads()}};
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const cost::CostRow& row : report.cost.rows) {
    nlohmann::ordered_json one = {{"operation", row.name}, {"task", row.what}, {"times", row.times}};
    one.update(json_of(row.cost, model));
    rows.push_back(std::move(one));
  }
  out["operations"] = std::move(rows);
  out["total"] = json_of(report.cost.total, model);
  out["memory"] = json_of(report.memory);
  nlohmann::ordered_json prices = nlohmann::ordered_json::object();
  for (const cost::Price& price : model.device().prices)
    prices[price.name] = price.per_second * report.cost.total.total();
  out["prices"] = std::move(prices);
  out["evaluations"] = model.works().evaluations();
  return out.dump(1) + "\n";
}

}  // namespace tap::driver
