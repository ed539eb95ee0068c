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
#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include "backend/llvm/library.h"
#include "compiler/driver/commands/command.h"
#include "compiler/driver/commands/decisions.h"
#include "compiler/driver/commands/inspect_report.h"
#include "compiler/driver/commands/output_ending.h"
#include "compiler/driver/commands/passes.h"
#include "compiler/driver/commands/plan_programs.h"
#include "compiler/driver/commands/shell_words.h"
#include "compiler/driver/machine_file.h"
#include "compiler/driver/machines/quantity.h"
#include "compiler/driver/planning/mesh_sizes.h"
#include "compiler/driver/planning/plan_effort.h"
#include "compiler/driver/planning/plan_front.h"
#include "compiler/driver/planning/plan_meshes.h"
#include "compiler/driver/process.h"
#include "compiler/driver/read_plan.h"
#include "compiler/driver/write_outputs.h"
#include "ir/shardings/mesh_position.h"

namespace tap::driver {
namespace {

// In the order of Pick.
constexpr std::string_view picks[] = {"fastest", "smallest", "least-traffic", "knee", "cheapest"};

struct PlanOptions {
  std::string file, machine, cpus, output, front, pick = "fastest", price, plan, start_from, budget;
  std::vector<std::string> mesh, demands;  // data=4, memory=1GiB
  std::int64_t devices = 0, threads = 0, states = 512, first_meshes = 0;
  bool list = false, json = false, progress = true;
  SourceOptions source;
};

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

void write_front(Session& session, const PlanOptions& options, const ProgramFile& file, const PlanFront& front,
                 const MeshPlan& picked) {
  ReportedPlans found = reported(session, front, picked);
  std::string text;
  if (ending_of(options.front) == ".svg") {
    text = front_svg(found);
  } else {
    for (std::size_t k = 0; k < found.plans.size(); ++k) {
      if (!has_graph(k, found)) continue;
      PassOptions passes;
      take(passes, options.source);
      passes.plan = plan_of(front.plans[k]);
      pipeline::Options config = pipeline_options(passes, pipeline::Stage::sharded);
      config.proof = pipeline::Proof::none;
      found.plans[k].sharded = compile_file(session, file, config, {}).program;
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

// What was found, and the signal that ended the search; without plans only if it did.
std::pair<PlanFront, int> found_until_signal(const Session& session, const PlanOptions& options,
                                             const PlanQuestion& asked) {
  PlanFront front;
  try {
    const EndsWorkOnSignal ends_work;
    front = options.budget.empty() ? answer(asked, static_cast<std::size_t>(options.states),
                                            static_cast<std::size_t>(options.first_meshes))
                                   : answer_within(*read_quantity(options.budget, Unit::time), asked);
  } catch (const Failure&) {
    if (EndsWorkOnSignal::caught() == 0) throw;  // else more time might have found a plan
  }
  const int signal = EndsWorkOnSignal::caught();
  if (signal != 0)
    session.report_interruption(front.plans.empty() ? "the search was interrupted before it found a plan"
                                                    : "the search was interrupted: more time may find a better plan");
  return {std::move(front), signal};
}

int plan(Session& session, const PlanOptions& options) {
  const std::string_view ending = ending_of(options.front);
  if (!options.front.empty() && ending != ".svg" && ending != ".html" && ending != ".htm")
    throw unknown_ending("plan", options.front, "use .svg for a picture of the front, .html for a report of its plans");
  keep_to_chosen(session, options.cpus, options.machine, Purpose::predict);
  cost::SearchOptions search;
  read_plans(session, options, search);
  search.cluster = cluster_for(session, *backend::target_named("native"), options.machine);
  const std::vector<std::string> prices = priced_names(search.cluster);
  const Demands demands = parse_demands(options.demands, prices);
  const auto pick = Pick(std::find(std::begin(picks), std::end(picks), options.pick) - std::begin(picks));
  const std::size_t price = chosen_price(options, prices, pick);
  auto [file, forms, locations] = read_to_divide(session, options.file, options.source, search);
  const ir::Program& program = forms.all.front().program;
  const std::vector<MeshAxes> meshes =
      meshes_to_search({options.mesh, options.devices, pick == Pick::cheapest}, search, program, locations);
  for (const std::vector<ir::MeshAxis>& axes : meshes)
    require_devices(search.cluster, ir::device_count({"", axes, {}}));
  search.threads = options.threads > 0 ? options.threads : search.cluster.types.front().threads;
  const std::vector<ir::Decision> requested = requested_over_meshes(program);
  search.kept.decisions.insert(search.kept.decisions.begin(), requested.begin(), requested.end());
  search.caution = {options.source.strict_fp, false, options.source.fast_reduce || search.kept.fast_reduce};
  if (pick == Pick::smallest) search.limits.goal = cost::Goal::memory;
  if (pick == Pick::least_traffic) search.limits.goal = cost::Goal::traffic;
  for (ProgramToDivide& form : forms.all) form.times = cost::times_for(form.program, search);
  const bool fast_reduce = search.caution.fast_reduce;
  const PlanQuestion asked{forms, meshes, std::move(search), demands, pick, price, options.progress, requested};
  auto [front, signal] = found_until_signal(session, options, asked);
  if (front.plans.empty()) return 128 + signal;
  const int exit_code = signal == 0 ? exit_code::done : 128 + signal;
  for (MeshPlan& plan : front.plans) {
    plan.found.sharded.plan.fast_reduce = fast_reduce;
    remove_requested(plan.found.sharded.plan, requested);
  }
  if (!options.front.empty()) {
    write_front(session, options, file, front, picked(front, pick, price));
    if (options.output.empty() && !options.json && !options.list) return exit_code;
  }
  if (options.json) write(session, options, front_json(front));
  else if (options.list) write(session, options, front_table(front));
  else {
    std::string text = plan_text(picked(front, pick, price));
    if (front.states > 0) text += fmt::format("// searched with {}\n", effort_text(front));
    if (signal != 0) text += "// the search was interrupted: more time may find a better plan\n";
    write(session, options, std::move(text));
  }
  return exit_code;
}

}  // namespace

Action declare_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  app.add_option("FILE", options->file, "A source file, or the text of a stage (.ir)")->required();
  CLI::Option* mesh =
      app.add_option(
             "--mesh", options->mesh,
             "The axes of the mesh and their sizes: data=4,model=2 (default: the mesh of the plan or of the program)")
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
  CLI::Option* meshes =
      app.add_option("--meshes", options->first_meshes,
                     "With --devices: search only the first N meshes, those that follow the links and have few axes")
          ->check(CLI::Range(1, 1 << 20));
  app.add_option("--budget", options->budget,
                 "Time limit of the search, such as 10s; the plan records the number of states that were kept, and of "
                 "meshes if there was no time for all")
      ->check(CLI::Validator(why_no_budget, "TIME"))
      ->excludes(states)
      ->excludes(meshes);
  app.add_option(
         "--threads", options->threads,
         "Number of threads of each device (default: those of the machine file, or one for each core that this process "
         "may use)")
      ->check(CLI::Range(1, 4096));
  app.add_flag("--progress,!--no-progress", options->progress,
               "Show the part of the search that is done and the time left (default, on a terminal)");
  add_cpus_option(app, options->cpus);
  add_machine_option(app, options->machine);
  add_source_options(app, options->source);
  add_shape_option(app, options->source);
  return [options](Session& session) { return plan(session, *options); };
}

}  // namespace tap::driver
