#include "compiler/driver/commands/plan_programs.h"

#include <algorithm>

#include "compiler/driver/commands/decisions.h"

namespace tap::driver {
namespace {

bool is_split(const ir::Decision& line) { return std::holds_alternative<ir::PlannedSplit>(line); }

// Lines that make the program that is divided. Those of the plan to start from are kept where they can be.
std::vector<ir::Decision> lines_before_splits(const ir::Plan& plan) {
  std::vector<ir::Decision> lines = plan.decisions;
  std::erase_if(lines, is_split);
  return lines;
}

std::vector<ir::Decision> choices_in(std::vector<ir::Decision> lines) {
  std::erase_if(lines, [](const ir::Decision& line) { return !std::holds_alternative<ir::PlannedChoice>(line); });
  return lines;
}

pipeline::Options up_to_groups(const SourceOptions& source, const ir::Plan& plan) {
  PassOptions passes;
  take(passes, source);
  passes.plan = plan;
  pipeline::Options config = pipeline_options(passes, pipeline::Stage::fused);
  config.proof = pipeline::Proof::none;
  return config;
}

}  // namespace

ReadProgram read_to_divide(Session& session, const std::string& file, const SourceOptions& source,
                           const cost::SearchOptions& search) {
  const std::vector<ir::Decision> kept = lines_before_splits(search.kept), begun = lines_before_splits(search.start);
  std::vector<ir::Decision> lines = kept;
  for (const ir::Decision& choice : choices_in(begun)) lines.push_back(choice);
  ReadProgram made{read_program_file(session, file, source)};
  PassOptions passes;
  take(passes, source);
  Dumps none(session, passes);
  auto locate = [&](const Compiled& built) { made.locations = locations_of_values(built); };
  ir::Plan plan = search.kept;  // all lines, to which messages refer
  plan.meshes.clear();
  plan.decisions.insert(plan.decisions.end(), lines.begin() + std::ssize(kept), lines.end());
  std::vector<ProgramToDivide>& forms = made.forms.all;
  forms.push_back({compile(session, made.file, up_to_groups(source, plan), passes, none, locate).program, lines});
  // A complete plan leaves nothing open, and groups that are not divided as kept lines say would not let these be kept.
  if (search.kept.evaluations || std::ranges::any_of(search.kept.decisions, is_split)) return made;
  auto decided = [&session, &source, text = made.file](const pipeline::Deciding& by, const ir::Plan& before) {
    pipeline::Options config = up_to_groups(source, before);
    config.decide = by;
    pipeline::Compilation compiled = compile_file(session, text, config, {});
    return ProgramToDivide{std::move(compiled.program), lines_before_splits(compiled.plan)};
  };
  const pipeline::Deciding by = deciding_for(search.cluster, source.no_cache);
  auto add = [&](ProgramToDivide form) {
    auto is_known = [&](const ProgramToDivide& other) { return other.program == form.program; };
    if (std::ranges::none_of(forms, is_known)) forms.push_back(std::move(form));
  };
  if (begun.size() > choices_in(begun).size()) {
    pipeline::Deciding as_begun = by;
    as_begun.evaluations = 0;
    as_begun.start.decisions = begun;
    plan.decisions = kept;
    add(decided(as_begun, plan));
  }
  plan.decisions = lines;
  add(decided(by, plan));
  made.forms.grouped_for = [=](const ir::Plan& divided) { return decided(by, divided); };
  made.forms.with_lines = [&session, &source, text = made.file](const std::vector<ir::Decision>& chosen) {
    ir::Plan of_form;
    of_form.decisions = chosen;
    return ProgramToDivide{compile_file(session, text, up_to_groups(source, of_form), {}).program, chosen};
  };
  made.forms.kept = kept;
  return made;
}

}  // namespace tap::driver
