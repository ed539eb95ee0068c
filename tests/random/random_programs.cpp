// Random Tap programs under random plans and shardings: the source on the oracle, and what the passes and the plan made of it, must give
// the same bits.
//
//   random_programs [--seed N] [--count N] [--reduce no]
//
// Prints how much of the language the programs used. A failing program is reduced and shown with its plan and seed.
#ifdef TAP_HAVE_BACKEND
#include "backend/compiled_program.h"
#include "backend/executable.h"
#endif
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <random>

#include "compiler/driver/certify.h"
#include "compiler/driver/standard_library.h"
#include "compiler/frontend/compile.h"
#include "compiler/frontend/laws_memory.h"
#include "ir/interpret_blocks.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "passes/expand.h"
#include "passes/pipeline.h"
#include "passes/plan_shardings.h"
#include "support/diagnostic_render.h"
#include "tests/check/certified.h"
#include "tests/passes/random_groups.h"
#include "tests/random/random_shardings.h"
#include "tests/random/tap_generator.h"

namespace tap::random {
namespace {

using namespace ir;

struct Trial {
  TapProgram source;
  Plan plan;
  std::string failure;  // empty: all is well
  bool fuse_more = false;
  bool chosen = false, moves = false, uneven = false, partials = false, refused = false;
  bool sharded = false;
  bool groups = false, groups_cut = false, streamed = false, unrolled = false, apart = false;
};

std::optional<Program> compiled(const std::string& text, std::string& failure) {
  SourceMap sources;
  FileId file = sources.add("random.tap", text);
  CompileOptions options;
  options.standard_library = embedded::std_tap;
  static LawMemory laws;  // a few monoids in thousands of programs
  options.laws = &laws;
  Diagnostics diagnostics;
  auto result = compile(sources, file, options, diagnostics);
  if (result) return std::move(result->program);
  failure = "does not compile";
  for (const Diagnostic& d : diagnostics.all()) failure += ": " + d.message;
  return std::nullopt;
}

// Bit by bit, save that one NaN is as good as another: what its sign and payload are, nothing says.
bool same_cell(const Tensor& a, const Tensor& b, std::int64_t cell) {
  if (is_float(a.type()) && std::isnan(a.load_f64(cell)) && std::isnan(b.load_f64(cell))) return true;
  std::size_t size = size_of(a.type()), at = static_cast<std::size_t>(cell) * size;
  return std::memcmp(a.data() + at, b.data() + at, size) == 0;
}
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k].type() != b[k].type() || a[k].shape() != b[k].shape()) return false;
    for (std::int64_t c = 0; c < a[k].size(); ++c)
      if (!same_cell(a[k], b[k], c)) return false;
  }
  return true;
}

void note_groups(Trial& trial, const Program& program) {
  for (const Graph& graph : program.graphs)
    for (const Operation& operation : graph.operations) {
      const Operator& op = program[operation.op];
      if (!op.region() || op.region()->kind != RegionKind::group) continue;
      trial.groups = true;
      trial.groups_cut |= !op.blockings.empty();
      for (const IndexDim& dim : op.dims) trial.streamed |= dim.role == DimRole::reduction;
    }
  for (const Decision& d : trial.plan.decisions) trial.unrolled |= std::holds_alternative<PlannedUnroll>(d);
}

void evaluate(Trial& trial, Program program, Choices& choose) {
  program.meshes = passes::test::random_meshes();
  if (choose(3) == 0) shard_at_random(program, choose);
  std::vector<Tensor> inputs;
  for (ValueId v : program[program.main].inputs) {
    const TensorType& type = program[program.main][v].type;
    inputs.push_back(input_values(type.element, type.shape, choose));
  }
  std::vector<Tensor> wanted = interpret(program, program.main, inputs).outputs;
  const bool planned = !passes::has_shardings(program) || choose(2);
  Program offered = passes::run(passes::passes_before("pick_choices"), program).program;
  trial.plan = passes::test::random_choices(choose, offered);
  trial.chosen = !trial.plan.decisions.empty();
  Program lowered = passes::run(passes::lowering(), program, {trial.plan}).program;
  passes::test::StagedPlan staged;
  if (planned) staged = passes::test::random_plan(choose, lowered);
  for (Decision& decision : staged.plan.decisions) trial.plan.decisions.push_back(std::move(decision));
  trial.fuse_more = staged.fuse_more;
  driver::Certified certified = driver::certify(program, trial.plan, {}, trial.fuse_more);
  for (const check::Finding& finding : certified.verdict.findings)
    if (finding.standing == check::Standing::refused)
      trial.failure =
          "refused: " + std::string(name_of(finding.obligation)) + ": " + finding.where + ": " + finding.detail;
  for (const Program& stage : certified.stages)
    if (!same_bits(wanted, interpret(stage, stage.main, inputs).outputs)) trial.failure = "a step changes the result";
  const Program& sharded = certified.stages.back();
  std::vector<std::string> faults = verify(sharded);
  if (!faults.empty()) trial.failure = "the sharded graph is malformed: " + faults.front();
  if (!trial.failure.empty()) return;
  BlockProgram blocks = passes::expand(sharded);
  if (std::string why = check::test::refusal_of(blocks); !why.empty()) trial.failure = "refused: " + why;
  if (!same_bits(wanted, interpret(blocks, inputs).outputs)) trial.failure = "the devices compute something else";
  for (const BlockGraph& graph : blocks.graphs)
    for (const Task& task : graph.tasks) trial.moves |= std::holds_alternative<Move>(task);
  for (const Decision& d : trial.plan.decisions)
    if (auto* split = std::get_if<PlannedSplit>(&d)) trial.uneven |= !split->blocks.boundaries.empty();
  for (const Value& v : sharded[sharded.main].values)
    trial.partials |= v.name.find(".partial") != std::string::npos || v.name.find(".carry") != std::string::npos;
  for (const Value& v : sharded[sharded.main].values) trial.apart |= v.name.find(".apart") != std::string::npos;
  for (const Graph& graph : sharded.graphs)
    for (const Operation& operation : graph.operations)
      for (const BlockPlacement& placed : operation.placements) trial.sharded |= placed.mesh == "s";
  note_groups(trial, sharded);
#ifdef TAP_HAVE_BACKEND
  backend::CompiledProgram lowered_blocks = backend::lower(blocks);
  backend::Schedule schedule = backend::schedule(lowered_blocks.blocks, lowered_blocks.kernels);
  if (std::string why = check::test::refusal_of(sharded, schedule); !why.empty()) trial.failure = "refused: " + why;
  if ((!trial.groups && !trial.moves) || choose(2)) return;
  backend::ExecuteOptions options;
  options.threads = 2;
  if (!same_bits(wanted, backend::Executable(blocks, options).run(inputs)))
    trial.failure = "native code computes something else";
#endif
}

Trial attempt(const std::vector<std::uint8_t>& bytes) {
  Choices choose(bytes);
  Trial trial;
  trial.source = generate(choose);
  try {
    if (auto program = compiled(trial.source.text, trial.failure)) evaluate(trial, std::move(*program), choose);
  } catch (const EvaluationError& e) { trial.failure = "stops: " + e.message; } catch (const Failure&) {
    trial.refused =
        true;  // of a random plan some decisions cannot be: blocks of a group that would interleave, for one
  } catch (const std::exception& e) { trial.failure = std::string("internal error: ") + e.what(); }
  return trial;
}

// Shorter sequences and smaller numbers, as long as it fails.
std::vector<std::uint8_t> reduced(std::vector<std::uint8_t> bytes) {
  auto fails = [](const std::vector<std::uint8_t>& b) { return !attempt(b).failure.empty(); };
  for (bool better = true; better;) {
    better = false;
    auto take = [&](std::vector<std::uint8_t> candidate) {
      if (candidate == bytes || !fails(candidate)) return;
      bytes = std::move(candidate);
      better = true;
    };
    for (std::size_t length = bytes.size() / 2; length > 0; length /= 2)
      for (std::size_t at = 0; at + length <= bytes.size(); at += length) {
        auto shorter = bytes;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                      shorter.begin() + static_cast<std::ptrdiff_t>(at + length));
        take(std::move(shorter));
      }
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (std::uint8_t smaller : {std::uint8_t{0}, static_cast<std::uint8_t>(bytes[at] / 2)}) {
        if (at >= bytes.size() || bytes[at] == 0) continue;
        auto other = bytes;
        other[at] = smaller;
        take(std::move(other));
      }
  }
  return bytes;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t seed) {
  std::mt19937_64 numbers(seed);
  std::vector<std::uint8_t> bytes(1000);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(numbers() >> 24);
  return bytes;
}

int report(std::uint64_t seed, bool reduce) {
  Trial first = attempt(bytes_of(seed));
  if (!reduce) {
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), first.failure.c_str());
    return 1;
  }
  Trial smallest = attempt(reduced(bytes_of(seed)));
  std::printf("seed %llu: %s\nreduced: %s\n\n%s\n%s\n", static_cast<unsigned long long>(seed), first.failure.c_str(),
              smallest.failure.c_str(), smallest.source.text.c_str(),
              (print(smallest.plan) + (smallest.fuse_more ? "and fuse_auto\n" : "")).c_str());
  return 1;
}

int run(std::uint64_t seed, std::uint64_t count, bool reduce) {
  const std::string refused = "a plan refused";
  std::map<std::string, std::uint64_t> seen;
  for (const std::string& feature : all_features()) seen[feature] = 0;
  for (std::uint64_t n = 0; n < count; ++n) {
    Trial trial = attempt(bytes_of(seed + n));
    if (!trial.failure.empty()) return report(seed + n, reduce);
    for (const std::string& feature : trial.source.features) ++seen[feature];
    seen["transfers"] += trial.moves;
    seen["choices"] += trial.chosen;
    seen["uneven splits"] += trial.uneven;
    seen["partials"] += trial.partials;
    seen[refused] += trial.refused;
    seen["shardings followed"] += trial.sharded;
    seen["groups"] += trial.groups;
    seen["groups that are cut"] += trial.groups_cut;
    seen["groups that stream"] += trial.streamed;
    seen["written apart"] += trial.apart;
    seen["repetitions unrolled"] += trial.unrolled;
    if (constexpr std::uint64_t often = 500; (n + 1) % often == 0)  // of a run that is cut off, as far as it came
      std::fprintf(stderr, "%llu passed\n", static_cast<unsigned long long>(n + 1));
  }
  std::printf("seed %llu, %llu programs\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(count));
  int missing = 0;
  for (const auto& [feature, n] : seen) {
    double share = 100.0 * static_cast<double>(n) / static_cast<double>(count);
    const bool special = feature == "groups that stream" || feature == "written apart";
    double wanted = feature == refused ? 0 : feature == "transfers" ? 50 : special ? 3 : 10;
    bool rare = count >= 300 && share < wanted;  // a generator that hardly makes it tests little of it
    std::printf("  %-24s %5.1f %%%s\n", feature.c_str(), share, rare ? "  too rare" : "");
    missing += rare;
  }
  std::printf("%llu passed, 0 failed\n", static_cast<unsigned long long>(count));
  return missing ? 2 : 0;
}

}  // namespace
}  // namespace tap::random

int main(int argc, char** argv) {
  std::uint64_t seed = 1, count = 300;
  bool reduce = true;
  for (int a = 1; a + 1 < argc; a += 2) {
    if (std::strcmp(argv[a], "--seed") == 0) seed = std::strtoull(argv[a + 1], nullptr, 10);
    if (std::strcmp(argv[a], "--count") == 0) count = std::strtoull(argv[a + 1], nullptr, 10);
    if (std::strcmp(argv[a], "--reduce") == 0) reduce = std::strcmp(argv[a + 1], "no") != 0;
  }
  return tap::random::run(seed, count, reduce);
}
