// tapc plan FILE: searches for the splits of a program over a mesh that are predicted to be best, and writes them as a
// plan.
//
//   tapc plan mlp.tap --mesh=data=4,model=2 -o mlp.plan
//   tapc plan mlp.tap --mesh=x=8 --pick=smallest     the least memory per device
//   tapc plan mlp.tap --devices=8 --at-most=memory=1GiB
//   tapc plan mlp.tap --devices=8 --machine=nodes.toml --pick=cheapest
//   tapc plan mlp.tap --devices=64 --budget=10s      the best that is found in this time
//   tapc plan mlp.tap --mesh=x=8 --front plans.html  a report of them, with their graphs
//   tapc plan mlp.tap --mesh=x=8 --plan mlp.plan     completes this plan
//   tapc plan mlp.tap --mesh=x=8 --list              every plan that no other beats in time, memory and traffic at once
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <set>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/commands/inspect_report.h"
#include "compiler/driver/commands/mesh_sizes.h"
#include "compiler/driver/commands/output_ending.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/commands/plan_front.h"
#include "compiler/driver/commands/shell_words.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/quantity.h"
#include "compiler/driver/median.h"
#include "compiler/driver/metrics/status_line.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/write_outputs.h"
#include "cost/machine/host.h"
#include "ir/shardings/mesh_position.h"

namespace tap::driver {
namespace {

// In the order of Pick.
constexpr std::string_view picks[] = {"fastest", "smallest", "least-traffic", "knee", "cheapest"};

struct PlanOptions {
  std::string file, machine, output, front, pick = "fastest", price, plan, start_from, budget;
  std::vector<std::string> mesh, demands;  // data=4, memory=1GiB
  std::int64_t devices = 0, threads = 0, states = 512;
  bool list = false, json = false, progress = true;
  SourceOptions source;
};

// With the alternatives that the plans choose.
ir::Program simplified(Session& session, const PlanOptions& options, const cost::SearchOptions& search) {
  PassOptions passes;
  take(passes, options.source);
  passes.plan = search.kept;
  passes.plan.meshes.clear();
  for (const ir::Decision& decision : search.start.decisions)
    if (std::holds_alternative<ir::PlannedChoice>(decision)) passes.plan.decisions.push_back(decision);
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::simplified);
  config.proof = pipeline::Proof::none;
  Dumps none(session, passes);
  return compile(session, read_program_file(session, options.file, options.source), std::move(config), passes, none)
      .program;
}

void write(Session& session, const PlanOptions& options, std::string text) {
  if (options.output.empty() || options.output == "-") session.print(text);
  else write_outputs(session, {{options.output, {std::move(text)}}});
}

constexpr std::size_t most_graphs = 16;  // in a report

// Whether the report has the graph of this plan: the picked one, and others spread over the front.
bool has_graph(std::size_t number, const ReportedPlans& found) {
  const std::size_t count = found.plans.size();
  if (count <= most_graphs || number == found.picked) return true;
  const std::size_t others = most_graphs - 1;  // the k-th of them is plan k * (count - 1) / (others - 1)
  const std::size_t k = (number * (others - 1) + count - 2) / (count - 1);
  return k < others && k * (count - 1) / (others - 1) == number;
}

ReportedPlans reported(const Session& session, const PlanFront& front, const MeshPlan& picked) {
  ReportedPlans found{"tapc", front.strategies, front.goal_is_exact};
  for (std::size_t k = 1; k < session.arguments.size(); ++k) found.command += " " + shell_word(session.arguments[k]);
  for (const MeshPlan& plan : front.plans) {
    if (&plan == &picked) found.picked = found.plans.size();
    found.plans.push_back({plan.found.predicted, axes_text(plan.mesh), plan_text(plan)});
  }
  return found;
}

void write_front(Session& session, const PlanOptions& options, const ir::Program& program, const PlanFront& front,
                 const MeshPlan& picked) {
  ReportedPlans found = reported(session, front, picked);
  std::string text;
  if (ending_of(options.front) == ".svg") {
    text = front_svg(found);
  } else {
    for (std::size_t k = 0; k < found.plans.size(); ++k) {
      if (!has_graph(k, found)) continue;
      pipeline::Options config;
      config.plan = plan_of(front.plans[k]);
      config.caution.strict_fp = options.source.strict_fp;
      config.begin = pipeline::Stage::simplified;
      config.stop = pipeline::Stage::sharded;
      config.proof = pipeline::Proof::none;
      found.plans[k].sharded = pipeline::compile(program, config).program;
    }
    text = plans_report(session, options.file, plan_of(picked), options.source, found);
  }
  write_outputs(session, {{options.front, {std::move(text)}}});
}

// Messages about lines refer to --plan: those of --start-from are kept where they can be.
void read_plans(Session& session, const PlanOptions& options, cost::SearchOptions& search) {
  search.start = read_plan(session, options.start_from);
  search.kept = read_plan(session, options.plan);
  std::set<std::string> chosen;
  auto is_chosen_twice = [&](const ir::Decision& decision) {
    auto* choice = std::get_if<ir::PlannedChoice>(&decision);
    return choice && chosen.contains(choice->operation);
  };
  for (const ir::Decision& decision : search.kept.decisions)
    if (auto* choice = std::get_if<ir::PlannedChoice>(&decision)) chosen.insert(choice->operation);
  std::erase_if(search.start.decisions, is_chosen_twice);
}

// The mesh that they declare.
std::optional<std::vector<ir::MeshAxis>> mesh_of_plans(const cost::SearchOptions& search) {
  for (const ir::Plan* plan : {&search.kept, &search.start})
    if (plan->meshes.size() == 1) return plan->meshes[0].axes;
  return std::nullopt;
}

// Fewer devices can be cheaper: then every number of devices that divides them is tried, too.
std::vector<std::vector<ir::MeshAxis>> meshes_to_search(const PlanOptions& options, Pick pick,
                                                        const cost::SearchOptions& search) {
  const cost::Cluster& cluster = search.cluster;
  if (!options.mesh.empty()) return {parse_mesh_sizes(options.mesh)};
  if (options.devices == 0) return {*mesh_of_plans(search)};
  std::vector<std::vector<ir::MeshAxis>> meshes = meshes_of(options.devices, cluster);
  for (std::int64_t fewer = options.devices - 1; pick == Pick::cheapest && fewer >= 1; --fewer)
    if (options.devices % fewer == 0)
      for (std::vector<ir::MeshAxis>& axes : meshes_of(fewer, cluster)) meshes.push_back(std::move(axes));
  return meshes;
}

// Those with the devices of the program's own meshes.
std::vector<std::vector<ir::MeshAxis>> of_one_set(const ir::Program& program,
                                                  std::vector<std::vector<ir::MeshAxis>> meshes) {
  const std::string given = ir::devices_in_words({"", meshes.front(), {}});
  const ir::Mesh* own = nullptr;
  std::erase_if(meshes, [&](const std::vector<ir::MeshAxis>& axes) {
    const ir::Mesh* other = ir::with_other_devices(program.meshes, {"", axes, {}});
    if (other) own = other;
    return other != nullptr;
  });
  if (meshes.empty())
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("a mesh with {} was given, and the program's mesh `{}` has {}", given,
                                         own->name, ir::devices_in_words(*own)))
                      .help("give a mesh with the same number of devices")};
  return meshes;
}

// The number of the price that is to be least.
std::size_t chosen_price(const PlanOptions& options, const std::vector<std::string>& prices, Pick pick) {
  auto wrong = [](std::string message, std::string help) {
    return Failure{exit_code::wrong_command_line,
                   Diagnostic(Code::command_line, Span{}, std::move(message)).help(std::move(help))};
  };
  if (pick != Pick::cheapest && !options.price.empty())
    throw wrong("`--price` needs `--pick cheapest`", "add `--pick cheapest`");
  if (pick != Pick::cheapest) return 0;
  if (prices.empty())
    throw wrong(
        "`--pick cheapest` needs a machine file with prices",
        "add `[prices]` to the file that you give as `--machine`, such as `euros = 0.0007` per second of a device");
  if (options.price.empty() && prices.size() > 1)
    throw wrong(fmt::format("the machine file has several prices: {}", fmt::join(prices, ", ")),
                fmt::format("write `--price {}`", prices.front()));
  const auto found = options.price.empty() ? prices.begin() : std::ranges::find(prices, options.price);
  if (found == prices.end())
    throw wrong(fmt::format("the machine file has no price `{}`", options.price),
                fmt::format("it has: {}", fmt::join(prices, ", ")));
  return static_cast<std::size_t>(found - prices.begin());
}

struct OutOfTime {};
using IsOver = std::function<bool()>;

PlanFront searched(const ir::Program& program, const std::vector<std::vector<ir::MeshAxis>>& meshes,
                   const cost::SearchOptions& search, bool with_progress, const IsOver& is_over) {
  StatusLine line(with_progress && ::isatty(STDERR_FILENO) == 1);
  return search_meshes(program, meshes, search, [&](double part) {
    if (is_over && is_over()) throw OutOfTime{};
    line.show(part);
  });
}

// Plans within the limits; if there are none, others, for the smallest relaxation.
PlanFront front_within(const ir::Program& program, const std::vector<std::vector<ir::MeshAxis>>& meshes,
                       cost::SearchOptions search, const Demands& demands, bool with_progress, const IsOver& is_over) {
  search.limits.at_most = {demands.seconds.value_or(cost::unlimited), demands.memory.value_or(cost::unlimited),
                           demands.traffic.value_or(cost::unlimited)};
  PlanFront front = searched(program, meshes, search, with_progress, is_over);
  if (!front.plans.empty()) return front;
  if (!front.problems.empty()) throw pipeline::PlanRefused(front.problems, {});
  // Memory is still short, if it was limited.
  search.limits.at_most = {cost::unlimited, demands.memory ? std::numeric_limits<double>::max() : cost::unlimited,
                           cost::unlimited};
  return searched(program, meshes, search, with_progress, is_over);
}

// What a search is for.
struct PlanQuestion {
  const ir::Program& program;
  const std::vector<std::vector<ir::MeshAxis>>& meshes;
  cost::SearchOptions search;
  Demands demands;
  Pick pick = Pick::fastest;
  std::size_t price = 0;
  bool with_progress = false;
};

// The plans that meet the demands.
PlanFront answer(const PlanQuestion& asked, std::size_t states, const IsOver& is_over = {}) {
  cost::SearchOptions search = asked.search;
  search.limits.most_states = states;
  Demands demands = asked.demands;
  auto front_now = [&] {
    return front_within(asked.program, asked.meshes, search, demands, asked.with_progress, is_over);
  };
  PlanFront front = front_now();
  keep_those_that_meet(front, demands);
  if (demands.memory) return front;
  // Then what the devices have is the limit, which takes another search only where it matters.
  demands.memory = search.cluster.least_memory();
  demands.memory_is_all = true;
  if (picked(front, asked.pick, asked.price).found.predicted.memory > *demands.memory) front = front_now();
  keep_those_that_meet(front, demands);
  return front;
}

// Searches with more and more states, as long as the next search would end in time. The last one is the answer, so that it is
// also the answer of --states with the number that is recorded.
PlanFront answer_within(double seconds, const PlanQuestion& asked) {
  constexpr double growth = 4, slack = 1.25;  // the time grows at most as the states do
  constexpr std::size_t least_states = 8, most_states = 1 << 20;
  const Stopwatch watch;
  std::optional<PlanFront> best;
  std::exception_ptr failure;  // few states may find no plan that meets the demands
  for (auto states = static_cast<double>(least_states);;) {
    const double begin = watch.seconds();
    const bool must_end = best.has_value() || failure;
    std::optional<std::size_t> labels;
    if (best) labels = best->labels;
    try {
      PlanFront found =
          answer(asked, static_cast<std::size_t>(states), [&] { return must_end && watch.seconds() > seconds; });
      found.states = static_cast<std::size_t>(states);
      best = std::move(found);
    } catch (const OutOfTime&) { break; } catch (const Failure&) {
      failure = std::current_exception();
    }
    if (best && (best->goal_is_exact || best->labels == labels)) break;  // more states change nothing
    const double now = watch.seconds(), factor = std::min(growth, (seconds - now) / ((now - begin) * slack));
    if (factor < 1.5 || states >= static_cast<double>(most_states)) break;
    states = std::min(std::floor(states * factor), static_cast<double>(most_states));
  }
  if (!best) std::rethrow_exception(failure);
  return std::move(*best);
}

int plan(Session& session, const PlanOptions& options) {
  const std::string_view ending = ending_of(options.front);
  if (!options.front.empty() && ending != ".svg" && ending != ".html" && ending != ".htm")
    throw unknown_ending("plan", options.front, "use .svg for a picture of the front, .html for a report of its plans");
  cost::SearchOptions search;
  read_plans(session, options, search);
  if (options.mesh.empty() && options.devices == 0 && !mesh_of_plans(search))
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{}, "`--mesh` or `--devices` is required")
                      .help("write --mesh data=4,model=2, or --devices 8 to search meshes, too")};
  search.cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  const std::vector<std::string> prices = priced_names(search.cluster);
  const Demands demands = parse_demands(options.demands, prices);
  const auto pick = Pick(std::find(std::begin(picks), std::end(picks), options.pick) - std::begin(picks));
  const std::size_t price = chosen_price(options, prices, pick);
  const ir::Program program = simplified(session, options, search);
  const std::vector<std::vector<ir::MeshAxis>> meshes = of_one_set(program, meshes_to_search(options, pick, search));
  for (const std::vector<ir::MeshAxis>& axes : meshes)
    require_devices(search.cluster, ir::device_count({"", axes, {}}));
  search.threads = options.threads > 0       ? options.threads
                   : options.machine.empty() ? cost::usable_threads()
                                             : search.cluster.types.front().threads;
  search.caution = {options.source.strict_fp, false, options.source.fast_reduce || search.kept.fast_reduce};
  if (pick == Pick::smallest) search.limits.goal = cost::Goal::memory;
  if (pick == Pick::least_traffic) search.limits.goal = cost::Goal::traffic;
  const bool fast_reduce = search.caution.fast_reduce;
  const PlanQuestion asked{program, meshes, std::move(search), demands, pick, price, options.progress};
  PlanFront front = options.budget.empty() ? answer(asked, static_cast<std::size_t>(options.states))
                                           : answer_within(*read_quantity(options.budget, Unit::time), asked);
  for (MeshPlan& plan : front.plans) plan.found.sharded.plan.fast_reduce = fast_reduce;
  if (!options.front.empty()) {
    write_front(session, options, program, front, picked(front, pick, price));
    if (options.output.empty() && !options.json && !options.list) return exit_code::done;
  }
  if (options.json) write(session, options, front_json(front));
  else if (options.list) write(session, options, front_table(front));
  else {
    std::string text = plan_text(picked(front, pick, price));
    if (front.states > 0) text += fmt::format("// searched with --states {}\n", front.states);
    write(session, options, std::move(text));
  }
  return exit_code::done;
}

}  // namespace

Action declare_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  CLI::Option* mesh = app.add_option("--mesh", options->mesh, "The axes of the mesh and their sizes: data=4,model=2")
                          ->delimiter(',')
                          ->allow_extra_args(false);
  app.add_option("--devices", options->devices, "Search all meshes of this many devices with up to three axes")
      ->check(CLI::Range(1, 1 << 20))
      ->excludes(mesh);
  app.add_option("--plan", options->plan, "A plan whose lines are kept; the search completes it");
  app.add_option("--start-from", options->start_from,
                 "A plan to begin with: none that is found is worse, and of its lines those are kept that cannot be "
                 "bettered");
  app.add_option("-o,--output", options->output, "The plan to write (default: standard output)");
  app.add_option("--front", options->front,
                 "Also show all plans found: a picture of their time and memory (.svg), or a report with their graphs "
                 "(.html)");
  app.add_option("--pick", options->pick,
                 "Which plan: fastest (default; within 2 %, the one with the least traffic), smallest (least memory "
                 "per device), least-traffic, knee (a compromise between time and memory), or cheapest (lowest by a "
                 "price of the machine file; with --devices N, on N or fewer devices)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(picks), std::end(picks))));
  app.add_option("--price", options->price,
                 "The price of the machine file that --pick cheapest compares, if there are several");
  app.add_option("--at-most", options->demands,
                 "Limits that the plan must meet, by prediction: time=2ms,memory=1GiB,traffic=64MiB, and prices of the "
                 "machine file: euros=0.01")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_flag("--json", options->json, "Print all plans found as JSON (docs/schema/plans.schema.json)");
  app.add_flag("--list", options->list, "List every plan that no other beats in time, memory and traffic at once");
  CLI::Option* states =
      app.add_option("--states", options->states,
                     "How many combinations of shardings the search keeps after each operation (default: 512)")
          ->check(CLI::Range(1, 1 << 20));
  app.add_option("--budget", options->budget,
                 "Time limit of the search, such as 10s; the plan records the number of states that were kept")
      ->check(CLI::Validator(why_no_budget, "TIME"))
      ->excludes(states);
  app.add_option(
         "--threads", options->threads,
         "Number of threads of each device (default: those of the machine file, or as many as this process may use)")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--progress,!--no-progress", options->progress,
               "Show the part of the search that is done and the time left (default, on a terminal)");
  add_machine_option(app, options->machine);
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return plan(session, *options); };
}

}  // namespace tap::driver
