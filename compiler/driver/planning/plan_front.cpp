#include "compiler/driver/planning/plan_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "compiler/driver/machines/quantity.h"
#include "compiler/driver/planning/plan_meshes.h"
#include "compiler/driver/planning/plan_searches.h"
#include "compiler/driver/show/run_summary.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/text/plan_text.h"
#include "support/byte_size.h"
#include "support/exit_code.h"

namespace tap::driver {

namespace {

constexpr double as_fast = 1.02;             // within the accuracy of the model
constexpr std::size_t few_labels = 100'000;  // of searches that take a tenth of a second together

// The program's mesh with these axes; otherwise a new one, named as in the options' plans.
std::pair<ir::MeshId, bool> mesh_for(ir::Program& program, const std::vector<ir::MeshAxis>& axes,
                                     const cost::SearchOptions& options) {
  for (std::size_t m = 0; m < program.meshes.size(); ++m)
    if (program.meshes[m].axes == axes) return {ir::MeshId(m), true};
  ir::Mesh mesh{"grid", axes, {}};
  for (const ir::Plan* plan : {&options.start, &options.kept})
    for (const ir::Mesh& own : plan->meshes)
      if (own.axes == axes) mesh = own;
  for (int n = 2; ir::find_mesh(program.meshes, mesh.name); ++n) mesh.name = "grid" + std::to_string(n);
  program.meshes.push_back(std::move(mesh));
  return {ir::MeshId(program.meshes.size() - 1), false};
}

// All devices of the mesh are paid for from the start to the end of the run.
std::vector<RunPrice> prices_of(const cost::Cluster& cluster, std::int64_t devices, double seconds) {
  std::vector<RunPrice> prices;
  for (const std::string& name : priced_names(cluster)) prices.push_back({name, 0});
  auto add = [&](const cost::Device& type, std::int64_t count) {
    for (const cost::Price& own : type.prices)
      std::ranges::find(prices, own.name, &RunPrice::name)->per_run +=
          own.per_second * seconds * static_cast<double>(count);
  };
  std::int64_t rest = devices;
  for (auto [type, count] : cluster.layout) {
    add(cluster.types[type], std::min(count, rest));
    rest -= std::min(count, rest);
  }
  add(cluster.types.front(), rest);
  return prices;
}

const cost::Objectives& predicted(const MeshPlan& plan) { return plan.found.predicted; }

bool no_dearer(const MeshPlan& a, const MeshPlan& b) {
  for (std::size_t k = 0; k < a.prices.size(); ++k)
    if (a.prices[k].per_run > b.prices[k].per_run) return false;
  return true;
}

void remove_beaten(std::vector<MeshPlan>& plans) {
  std::stable_sort(plans.begin(), plans.end(),
                   [](const MeshPlan& a, const MeshPlan& b) { return predicted(a).seconds < predicted(b).seconds; });
  std::vector<MeshPlan> kept;
  for (MeshPlan& plan : plans) {
    auto beats = [&](const MeshPlan& other) {
      return dominates(predicted(other), predicted(plan)) && no_dearer(other, plan);
    };
    if (std::none_of(kept.begin(), kept.end(), beats)) kept.push_back(std::move(plan));
  }
  plans = std::move(kept);
}

double price_named(const MeshPlan& plan, const std::string& name) {
  for (const RunPrice& price : plan.prices)
    if (price.name == name) return price.per_run;
  return 0;
}

// By how much the plan exceeds the demand that it exceeds most; at most 1 if it meets them all.
double excess(const MeshPlan& plan, const Demands& demands) {
  const cost::Objectives& own = predicted(plan);
  double most = 0;
  auto add = [&](double value, const std::optional<double>& limit) {
    if (limit) most = std::max(most, *limit > 0 ? value / *limit : value > 0 ? 1e300 : 0);
  };
  add(own.seconds, demands.seconds);
  add(own.memory, demands.memory);
  add(own.traffic, demands.traffic);
  for (const auto& [name, limit] : demands.prices) add(price_named(plan, name), limit);
  return most;
}

Failure no_plan_meets(const MeshPlan& nearest, const Demands& demands) {
  const cost::Objectives& own = predicted(nearest);
  std::vector<std::string> asked, needed;
  auto add = [&](const char* name, double value, const std::optional<double>& limit, Unit unit) {
    if (!limit) return;
    asked.push_back(fmt::format("{}={}", name, shown(*limit, unit)));
    const bool exceeds = value > *limit;
    needed.push_back(fmt::format(
        "{}={}", name, exceeds ? shown(unit == Unit::size ? std::ceil(value) : value, unit) : shown(*limit, unit)));
  };
  add("time", own.seconds, demands.seconds, Unit::time);
  add("memory", own.memory, demands.memory, Unit::size);
  add("traffic", own.traffic, demands.traffic, Unit::size);
  for (const auto& [name, limit] : demands.prices) add(name.c_str(), price_named(nearest, name), limit, Unit::number);
  const std::string limits = fmt::format("{}", fmt::join(needed, ", "));
  return {exit_code::resource,
          Diagnostic(Code::plan_not_applicable, Span{},
                     fmt::format("no plan meets the limits {}; the nearest takes {}", fmt::join(asked, ", "),
                                 summary(nearest)))
              .help(demands.memory_is_all
                        ? fmt::format("use more devices, or larger ones: this plan needs {}; the memory of a device "
                                      "is that of the machine file, or of this machine",
                                      limits)
                        : fmt::format("raise the limits to at least {}, or use more devices", limits))};
}

template <class Key>
const MeshPlan& least(const std::vector<const MeshPlan*>& plans, Key key) {
  return **std::min_element(plans.begin(), plans.end(), [&](const MeshPlan* a, const MeshPlan* b) {
    return key(predicted(*a)) < key(predicted(*b));
  });
}

void add_plans(std::vector<MeshPlan>& list, const ir::Mesh& mesh, bool is_declared, std::vector<cost::FoundPlan> plans,
               const cost::Cluster& cluster) {
  for (cost::FoundPlan& plan : plans) {
    std::vector<RunPrice> prices = prices_of(cluster, device_count(mesh), plan.predicted.seconds);
    list.push_back({mesh, is_declared, std::move(plan), std::move(prices)});
  }
}

// In what is wanted most, or in all.
std::vector<MeshPlan> best_of(std::vector<MeshPlan> plans, cost::Goal goal, bool in_all) {
  PlanFront front{std::move(plans)};
  std::vector<MeshPlan> best;
  constexpr std::pair<cost::Goal, Pick> picks[] = {{cost::Goal::seconds, Pick::fastest},
                                                   {cost::Goal::memory, Pick::smallest},
                                                   {cost::Goal::traffic, Pick::least_traffic}};
  for (const auto& [of_goal, pick] : picks)
    if (!front.plans.empty() && (in_all || of_goal == goal)) best.push_back(picked(front, pick));
  return best;
}

using FormsOnMeshes = std::vector<std::pair<ir::Mesh, std::vector<ir::Decision>>>;

// Divides the program in this form as well, unless it is known.
void add_form(PlanFront& front, ProgramToDivide form, const MeshPlan& of, cost::SearchOptions options,
              FormsOnMeshes& known) {
  std::pair of_form(of.mesh, form.lines);
  if (std::ranges::count(known, of_form) > 0) return;
  known.push_back(std::move(of_form));
  options.progress = {};
  double least = cost::unlimited;
  for (const MeshPlan& plan : front.plans) least = std::min(least, value_of(predicted(plan), options.limits.goal));
  const ir::MeshId mesh = mesh_for(form.program, of.mesh.axes, options).first;
  follow_shardings_on(form.program, mesh);
  options.times = cost::times_for(form.program, options);
  cost::FoundFront found = cost::search(form.program, mesh, with_fewer_states(options, fewer_for_forms));
  constexpr double clearly = 0.99;
  const bool is_better = least_of_goal(found, options.limits.goal) < clearly * least;
  if (is_quick(found) || is_better) found = cost::search(form.program, mesh, options);
  front.strategies += found.strategies;
  front.labels += found.work.labels;
  front.goal_is_exact = front.goal_is_exact && found.goal_is_exact;
  for (cost::FoundPlan& one : found.plans)
    one.sharded.plan.decisions.insert(one.sharded.plan.decisions.begin(), form.lines.begin(), form.lines.end());
  add_plans(front.plans, of.mesh, of.is_declared, std::move(found.plans), options.cluster);
}

// What pays may be another thing on parts: the program with the groups for each of these plans is divided as well.
void add_grouped(PlanFront& front, const std::vector<MeshPlan>& best, const FormsOfProgram& forms,
                 const cost::SearchOptions& options, FormsOnMeshes& known) {
  std::vector<ir::Plan> seen;
  for (const MeshPlan& plan : best) {
    const ir::Plan divided = plan_of(plan);
    if (std::ranges::count(seen, divided) > 0) continue;  // the best in several ways
    seen.push_back(divided);
    add_form(front, forms.grouped_for(divided), plan, options, known);
  }
  remove_beaten(front.plans);
}

std::size_t operations_of(const ir::Program& program) {
  std::size_t all = 0;
  for (const ir::Graph& graph : program.graphs) all += graph.operations.size();
  return all;
}

// Of a small program: the best plan without one of its groups, and so on, as long as that is better.
void add_with_fewer_groups(PlanFront& front, const FormsOfProgram& forms, const cost::SearchOptions& options,
                           FormsOnMeshes& known) {
  constexpr std::size_t few_operations = 16;
  if (operations_of(forms.all.front().program) > few_operations) return;
  auto has_time = [&] { return front.labels < few_labels && !is_hurried(options.limits); };
  for (double least = cost::unlimited; !front.plans.empty() && has_time();) {
    const MeshPlan best = best_of(front.plans, options.limits.goal, false).front();
    const double value = value_of(predicted(best), options.limits.goal);
    if (value >= least) return;
    least = value;
    std::vector<ir::Decision> lines = plan_of(best).decisions;
    std::erase_if(lines, [](const ir::Decision& line) { return std::holds_alternative<ir::PlannedSplit>(line); });
    for (std::size_t k = 0; k < lines.size() && has_time(); ++k) {
      if (!std::holds_alternative<ir::PlannedFusion>(lines[k]) || std::ranges::count(forms.kept, lines[k]) > 0)
        continue;
      std::vector<ir::Decision> fewer = lines;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      add_form(front, forms.with_lines(fewer), best, options, known);
    }
    remove_beaten(front.plans);
  }
}

}  // namespace

std::string axes_text(const ir::Mesh& mesh) {
  std::vector<std::string> axes;
  for (const ir::MeshAxis& axis : mesh.axes) axes.push_back(fmt::format("{}: {}", axis.name, axis.size));
  return fmt::format("{} [{}]", mesh.name, fmt::join(axes, ", "));
}

PlanFront search_meshes(const FormsOfProgram& forms, const std::vector<std::vector<ir::MeshAxis>>& meshes,
                        const cost::SearchOptions& options, const std::function<void(double)>& progress,
                        const MeshLimit& limit) {
  std::vector<MeshSearch> searches;
  for (const std::vector<ir::MeshAxis>& axes : meshes) {
    MeshSearch search{forms.all};
    for (ProgramToDivide& form : search.programs) {
      std::tie(search.mesh, search.is_declared) = mesh_for(form.program, axes, options);
      follow_shardings_on(form.program, search.mesh);
    }
    searches.push_back(std::move(search));
  }
  run_searches(searches, options, progress, limit);
  PlanFront front;
  std::vector<MeshPlan> without_groups;
  if (searches.size() < meshes.size()) front.first_meshes = searches.size();
  for (MeshSearch& search : searches) {
    const ir::Mesh& mesh = search.on();
    front.meshes.push_back(mesh);
    front.strategies += search.found.strategies;
    front.labels += search.found.work.labels;
    front.goal_is_exact = front.goal_is_exact && search.found.goal_is_exact;
    if (!search.found.problems.empty()) {
      if (front.problems.empty()) front.problems = std::move(search.found.problems);
      continue;
    }
    std::vector<cost::FoundPlan>& plans = search.found.plans;
    add_plans(without_groups, mesh, search.is_declared,
              {plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(search.of_first)}, options.cluster);
    add_plans(front.plans, mesh, search.is_declared, std::move(plans), options.cluster);
  }
  remove_beaten(front.plans);
  if (!forms.grouped_for || is_hurried(options.limits)) return front;
  remove_beaten(without_groups);
  const bool is_small = front.labels < few_labels;
  std::vector<MeshPlan> best = best_of(std::move(without_groups), options.limits.goal, is_small);
  if (is_small) std::ranges::move(best_of(front.plans, options.limits.goal, true), std::back_inserter(best));
  FormsOnMeshes known;
  for (const ir::Mesh& mesh : front.meshes)
    for (const ProgramToDivide& form : forms.all) known.emplace_back(mesh, form.lines);
  add_grouped(front, best, forms, options, known);
  add_with_fewer_groups(front, forms, options, known);
  return front;
}

Demands parse_demands(const std::vector<std::string>& texts, const std::vector<std::string>& prices) {
  Demands demands;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals), value = text.substr(std::min(equals + 1, text.size()));
    std::optional<double>* limit = name == "time"      ? &demands.seconds
                                   : name == "memory"  ? &demands.memory
                                   : name == "traffic" ? &demands.traffic
                                                       : nullptr;
    std::optional<double> of_price;
    if (limit) *limit = read_quantity(value, name == "time" ? Unit::time : Unit::size);
    else if (std::ranges::count(prices, name) > 0) limit = &of_price, of_price = read_quantity(value, Unit::number);
    if (!limit || !*limit || **limit < 0)
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{}, "`--at-most " + text + "` is not a valid limit")
                        .help("write --at-most time=2ms,memory=1GiB,traffic=64MiB, or some of these" +
                              (prices.empty() ? "" : fmt::format("; or a price: {}", fmt::join(prices, ", "))))};
    if (of_price) demands.prices.emplace_back(name, *of_price);
  }
  return demands;
}

void keep_those_that_meet(PlanFront& front, const Demands& demands) {
  auto of_plan = [&](const MeshPlan& plan) { return excess(plan, demands); };
  const auto nearest = std::ranges::min_element(front.plans, {}, of_plan);
  if (of_plan(*nearest) > 1) throw no_plan_meets(*nearest, demands);
  std::erase_if(front.plans, [&](const MeshPlan& plan) { return of_plan(plan) > 1; });
}

const MeshPlan& picked(const PlanFront& front, Pick pick, std::size_t price) {
  std::vector<const MeshPlan*> plans;
  for (const MeshPlan& plan : front.plans) plans.push_back(&plan);
  const double shortest = predicted(*plans.front()).seconds;
  double smallest = predicted(*plans.front()).memory;
  for (const MeshPlan* plan : plans) smallest = std::min(smallest, predicted(*plan).memory);
  switch (pick) {
    case Pick::fastest:
      std::erase_if(plans, [&](const MeshPlan* plan) { return predicted(*plan).seconds > as_fast * shortest; });
      return least(plans, [](const cost::Objectives& own) { return own.traffic; });
    case Pick::smallest: return least(plans, [](const cost::Objectives& own) { return own.memory; });
    case Pick::least_traffic: return least(plans, [](const cost::Objectives& own) { return own.traffic; });
    case Pick::knee:
      return least(plans, [&](const cost::Objectives& own) {
        return std::log(own.seconds / shortest) + std::log((own.memory + 1) / (smallest + 1));
      });
    case Pick::cheapest:
      return **std::ranges::min_element(plans, {}, [&](const MeshPlan* plan) { return plan->prices[price].per_run; });
  }
  return *plans.front();
}

std::vector<std::string> priced_names(const cost::Cluster& cluster) {
  std::vector<std::string> names;
  for (const cost::Device& device : cluster.types)
    for (const cost::Price& price : device.prices)
      if (std::ranges::count(names, price.name) == 0) names.push_back(price.name);
  return names;
}

std::string summary(const MeshPlan& plan) {
  const cost::Objectives& own = predicted(plan);
  std::string text = fmt::format("{}, {} per device, {} received", duration_text(own.seconds), byte_size(own.memory),
                                 byte_size(own.traffic));
  for (const RunPrice& price : plan.prices) text += fmt::format(", {:.3g} {}", price.per_run, price.name);
  return text;
}

std::string effort_text(const PlanFront& front) {
  if (front.states == 0) return "";
  return fmt::format("--states {}", front.states) +
         (front.first_meshes > 0 ? fmt::format(" --meshes {}", front.first_meshes) : "");
}

std::string front_table(const PlanFront& front) {
  std::string text;
  for (const ir::Mesh& mesh : front.meshes)
    text += fmt::format("mesh {}, {} devices\n", axes_text(mesh), device_count(mesh));
  text += fmt::format("{} strategies{}\n", front.strategies, front.goal_is_exact ? ", searched exhaustively" : "");
  if (front.states > 0) text += fmt::format("searched with {}\n", effort_text(front));
  for (const MeshPlan& plan : front.plans)
    text += summary(plan) + (front.meshes.size() > 1 ? " on " + axes_text(plan.mesh) : "") + "\n";
  return text;
}

std::string front_json(const PlanFront& front) {
  using Json = nlohmann::ordered_json;
  Json plans = Json::array();
  for (const MeshPlan& plan : front.plans) {
    Json axes = Json::object(), lines = Json::array();
    for (const ir::MeshAxis& axis : plan.mesh.axes) axes[axis.name] = axis.size;
    for (const ir::Decision& decision : plan.found.sharded.plan.decisions) lines.push_back(ir::decision_text(decision));
    plans.push_back({{"mesh", plan.mesh.name},
                     {"axes", std::move(axes)},
                     {"time", predicted(plan).seconds},
                     {"memory", predicted(plan).memory},
                     {"traffic", predicted(plan).traffic}});
    for (const RunPrice& price : plan.prices) plans.back()["prices"][price.name] = price.per_run;
    plans.back()["plan"] = std::move(lines);
  }
  Json json = {
      {"format", "tap-plans"}, {"version", 1}, {"strategies", front.strategies}, {"exhaustive", front.goal_is_exact}};
  if (front.states > 0) json["states"] = front.states;
  if (front.states > 0 && front.first_meshes > 0) json["meshes"] = front.first_meshes;
  json["plans"] = std::move(plans);
  return json.dump(2) + "\n";
}

ir::Plan plan_of(const MeshPlan& plan) {
  ir::Plan made = plan.found.sharded.plan;
  if (!plan.is_declared) made.meshes.push_back(plan.mesh);
  return made;
}

std::string plan_text(const MeshPlan& plan) {
  std::string text = ir::print(plan_of(plan)) + "// predicted: " + summary(plan) + "\n";
  for (const passes::LeftWhole& left : plan.found.sharded.left) text += "// " + to_string(left) + "\n";
  return text;
}

}  // namespace tap::driver
