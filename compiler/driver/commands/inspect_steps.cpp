#include "compiler/driver/commands/inspect_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/show/program_diff.h"
#include "passes/pass_table.h"
#include "runtime/failure.h"

namespace tap::driver {
namespace {

// A run of a pass, and the program that it left.
struct Run {
  std::string pass;
  ir::Program program;
};

struct Runs {
  Compiled source;        // without its graph
  std::vector<Run> list;  // the first one is the program as written, without a name
};

Runs runs_of(Session& session, const ProgramFile& input, const pipeline::Options& how) {
  Runs runs;
  pipeline::Observer observer;
  observer.after_build = [&](const Compiled& built) { runs.list.push_back({"", built.program}); };
  observer.after_pass = [&](const passes::PassRun& run) {
    runs.list.push_back({std::string(run.pass.name), run.after});
  };
  pipeline::Compilation made = compile_file(session, input, how, observer);
  runs.source = std::move(made.source);
  return runs;
}

void require_known(const std::string& pass) {
  if (pass.empty() || passes::find_pass(pass)) return;
  const std::vector<std::string> names = passes::pass_names();
  auto near = did_you_mean(pass, names);
  throw wrong_command(
      Code::command_line, fmt::format("unknown pass `{}`", pass),
      near ? "did you mean `" + *near + "`?" : fmt::format("the passes are {}", fmt::join(names, ", ")));
}

std::size_t last_run(const Runs& runs, const std::string& pass) {
  for (std::size_t k = runs.list.size(); k-- > 0;)
    if (runs.list[k].pass == pass) return k;
  throw wrong_command(
      Code::command_line, fmt::format("the pass `{}` did not run", pass),
      "`tapc opt --list-passes` lists the passes that always run, those for a plan, and those on request");
}

// Where the last group of runs of this pass begins: a pass may run until nothing changes, and at several places.
std::size_t before_run(const Runs& runs, std::size_t last) {
  std::size_t first = last;
  while (first > 0 && runs.list[first - 1].pass == runs.list[last].pass) --first;
  return first == 0 ? 0 : first - 1;
}

}  // namespace

Compiled compiled_after(Session& session, const ProgramFile& input, const pipeline::Options& how,
                        const std::string& pass) {
  require_known(pass);
  Runs runs = runs_of(session, input, how);
  runs.source.program = std::move(runs.list[last_run(runs, pass)].program);
  return std::move(runs.source);
}

std::string diff_of_passes(Session& session, const ProgramFile& input, const pipeline::Options& how,
                           const std::string& passes) {
  const std::size_t dots = passes.find("..");
  const std::string to = dots == passes.npos ? passes : passes.substr(dots + 2);
  const std::string from = dots == passes.npos ? "" : passes.substr(0, dots);
  require_known(from);
  require_known(to);
  const Runs runs = runs_of(session, input, how);
  const std::size_t end = dots != passes.npos && to.empty() ? runs.list.size() - 1 : last_run(runs, to);
  const std::size_t begin = dots == passes.npos ? before_run(runs, end) : from.empty() ? 0 : last_run(runs, from);
  if (begin > end)
    throw wrong_command(Code::command_line, fmt::format("the pass `{}` runs before `{}`", to, from),
                        fmt::format("write `--diff {}..{}`", to, from));
  return diff_text(changes_between(runs.list[begin].program, runs.list[end].program));
}

}  // namespace tap::driver
