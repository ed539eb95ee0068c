#include "tests/random/trial.h"
#include "ir/block_program.h"
#include "tests/driver/certified.h"

#include <fmt/format.h>
#include "backend/compiled_program.h"
#include "backend/llvm/executable.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/driver/standard_library.h"
#include "compiler/frontend/elaborate/compile.h"
#include "compiler/frontend/proofs/laws_memory.h"
#include "compiler/frontend/syntax/parse.h"
#include "ir/interpret/interpret_blocks.h"
#include "ir/text.h"
#include "ir/verify/verify.h"
#include "passes/pass_manager.h"
#include "passes/shardings/plan_shardings.h"
#include "passes/splits/expand.h"
#include "tests/check/certified.h"
#include "tests/oracle/oracle.h"
#include "tests/passes/random_groups.h"
#include "tests/random/guarded_memory.h"
#include "tests/random/known_failures.h"
#include "tests/random/random_shardings.h"

namespace tap::random {
namespace {

using namespace ir;

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

bool both_zero(const Tensor& a, const Tensor& b, std::int64_t cell) {
  return is_float(a.type()) && a.load_f64(cell) == 0 && b.load_f64(cell) == 0;
}

// Of a function whose last digits differ: a few units in the last place, of what the type holds.
bool near_cell(const Tensor& a, const Tensor& b, std::int64_t cell) {
  const double x = a.load_f64(cell), y = b.load_f64(cell);
  const double unit = std::ldexp(1.0, 5 - info(a.type()).mantissa_bits);
  return x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= unit * std::max(std::fabs(y), 1e-3);
}

std::string shown(const Tensor& t, std::int64_t cell) {
  return is_float(t.type()) ? fmt::format("{}", t.load_f64(cell)) : fmt::format("{}", t.load_i64(cell));
}

bool writes_partials(const std::string& name) {
  return name.find(".partial") != std::string::npos || name.find(".carry") != std::string::npos;
}

// One program on its way.
class Evaluation {
 public:
  Evaluation(Trial& trial, Program program, Choices& choose, bool native)
      : trial_(trial), program_(std::move(program)), choose_(choose), native_(native) {}

  void run() {
    trial_.strict = choose_(5) == 4;
    make_inputs();
    expected_ = by_the_oracle(trial_.source.text, inputs_);
    if (trial_.strict ? !agree_within_bounds()
                      : !agree(interpret(program_, program_.main, inputs_).outputs, "the interpreter"))
      return;
    program_.meshes = passes::test::random_meshes();
    const int mode = static_cast<int>(choose_(4));
    if (trial_.strict || mode == 3) return with_default_decisions();
    trial_.sharded = mode == 0;
    if (has_known_failure(KnownFailure::under_shardings)) trial_.sharded = false;
    if (trial_.sharded) shard_at_random(program_, choose_);
    under_a_plan();
  }

 private:
  bool has_known_failure(KnownFailure::Scope how) const {
    for (const std::string& feature : trial_.source.features)
      if (is_known_failure(feature, how)) return true;
    return false;
  }

  void make_inputs() {
    const Values values = trial_.strict ? Values::any : trial_.source.special ? Values::special : Values::small;
    for (ValueId v : program_[program_.main].inputs) {
      const TensorType& type = program_[program_.main][v].type;
      inputs_.push_back(input_values(type.element, type.shape, values, choose_));
    }
  }

  bool agree(const std::vector<Tensor>& found, const std::string& who) {
    if (!trial_.failure.empty()) return false;
    const std::string d = difference(found, expected_, trial_.source.rounded, signs_of_zeros_);
    if (!d.empty()) trial_.failure = who + " computes something else: " + d;
    return d.empty();
  }

  // Of numbers whose sums round: the interpreter rounds f32 at the cell only, and says how far off others may be.
  bool agree_within_bounds() {
    const InterpretResult found = interpret(program_, program_.main, inputs_, {.with_bounds = true});
    for (std::size_t k = 0; k < expected_.size(); ++k)
      for (std::int64_t c = 0; c < expected_[k].size(); ++c) {
        const double a = found.outputs[k].load_f64(c), b = expected_[k].load_f64(c),
                     bound = found.bounds[k].load_f64(c);
        if (a == b || (std::isnan(a) && std::isnan(b)) || std::isinf(bound) || std::fabs(a - b) <= 2 * bound) continue;
        trial_.failure = fmt::format(
            "the interpreter computes something else: result {}, cell {}: {}, not {}, which is off by {} at most", k, c,
            a, b, bound);
        return false;
      }
    return true;
  }

  // As `tapc run` does it, with what the cost model decides; or with groups that move few bytes, or with none.
  void with_default_decisions() {
    // Folds of floats assume finite values, unless everything is strict.
    if ((trial_.strict || !trial_.source.special) && choose_(2)) {
      pipeline::Compilation certified = driver::test::certified_as_decided(program_, trial_.strict);
      trial_.plan = certified.plan;
      note("decided");
      if (judged(certified)) natively(passes::expand(certified.stages.back()), certified.stages.back());
      return;
    }
    trial_.fuse_more = choose_(2);
    pipeline::Compilation certified =
        driver::test::certified(program_, {}, pipeline::Stage::sharded, trial_.fuse_more, trial_.strict);
    note(trial_.strict ? "strict" : "defaults");
    if (judged(certified)) natively(passes::expand(certified.stages.back()), certified.stages.back());
  }

  void under_a_plan() {
    const bool planned = !passes::has_shardings(program_) || choose_(2);
    Program offered = passes::run(passes::passes_before("pick_choices"), program_).program;
    if (!(trial_.source.special && has_floats())) trial_.plan = passes::test::random_choices(choose_, offered);
    if (!trial_.plan.decisions.empty()) note("choices");
    Program lowered = passes::run(passes::lowering(), program_, {trial_.plan}).program;
    passes::test::StagedPlan staged;
    if (planned) staged = passes::test::random_plan(choose_, lowered);
    for (Decision& decision : staged.plan.decisions) trial_.plan.decisions.push_back(std::move(decision));
    trial_.fuse_more = staged.fuse_more;
    // The cost model may decide what the plan leaves open.
    const bool decided = !(trial_.source.special && has_floats()) && choose_(4) == 0;
    pipeline::Compilation certified =
        decided ? driver::test::certified_as_decided(program_, false, trial_.plan)
                : driver::test::certified(program_, trial_.plan, pipeline::Stage::sharded, trial_.fuse_more);
    const bool adds = decided && certified.plan.decisions != trial_.plan.decisions;
    if (adds) note(passes::has_shardings(program_) ? "decided in shards" : "decided under a plan");
    if (!judged(certified)) return;
    const Program& sharded = certified.stages.back();
    BlockProgram blocks = passes::expand(sharded);
    if (std::string why = check::test::refusal_of(blocks); !why.empty()) trial_.failure = "refused: " + why;
    if (!agree(interpret(blocks, inputs_).outputs, "the devices")) return;
    note_plan(sharded, blocks);
    natively(std::move(blocks), sharded);
    if (trial_.failure.empty() && choose_(4) == 3) taken_back(certified.stages);
  }

  // The text of a stage, as `tapc` reads it: with a plan of its own or without.
  void taken_back(const std::vector<Program>& stages) {
    const std::size_t number = choose_(static_cast<std::uint32_t>(stages.size()));
    const std::string what = fmt::format("the text of stage {}", number);
    auto parsed = parse_program(print(stages[number]));
    if (!std::holds_alternative<Program>(parsed)) return fail(what + " cannot be read");
    Program program = std::get<Program>(std::move(parsed));
    if (program != stages[number]) return fail(what + " is that of another program");
    check::Verdict verdict;
    check::check_source(program, true, verdict);
    if (std::string why = check::test::first_refusal(verdict); !why.empty()) return fail(what + " is refused: " + why);
    note("stage texts");
    try {
      pipeline::Compilation certified =
          driver::test::certified(std::move(program), {}, pipeline::Stage::sharded, choose_(4) == 3, trial_.strict);
      if (std::string why = check::test::first_refusal(certified.verdict); !why.empty())
        return fail(what + " is refused on its way: " + why);
      look_for_distributed_floats(certified);
      BlockProgram blocks = passes::expand(certified.stages.back());
      if (std::string why = check::test::refusal_of(blocks); !why.empty()) return fail(what + " is refused: " + why);
      agree(interpret(blocks, inputs_).outputs, what);
    } catch (const Failure& failure) { fail(what + " fails: " + failure.diagnostic.message); }
  }
  void fail(std::string why) { trial_.failure = std::move(why); }

  // A choice may be another order of factors, or a sum of products for a product of sums: both assume finite numbers.
  bool has_floats() const {
    for (const Value& v : program_[program_.main].values)
      if (is_float(v.type.element)) return true;
    return false;
  }

  bool judged(const pipeline::Compilation& certified) {
    for (const check::Finding& finding : certified.verdict.findings)
      if (finding.standing == check::Standing::refused)
        trial_.failure =
            "refused: " + std::string(name_of(finding.obligation)) + ": " + finding.where + ": " + finding.detail;
    for (std::size_t k = 0; k < certified.stages.size(); ++k) {
      const Program& stage = certified.stages[k];
      if (k > 0 && distributes_floats(certified, k - 1)) signs_of_zeros_ = false;
      // All of them for a few programs, which tells the step that is wrong; else the last.
      if (trial_.strict || (k + 1 < certified.stages.size() && choose_(8))) continue;
      agree(interpret(stage, stage.main, inputs_).outputs, fmt::format("stage {}", k));
    }
    std::vector<std::string> faults = verify(certified.stages.back());
    if (!faults.empty()) trial_.failure = "the sharded graph is malformed: " + faults.front();
    return trial_.failure.empty();
  }

  // Has this step assumed that the sign of a zero does not matter?
  static bool distributes_floats(const pipeline::Compilation& certified, std::size_t step) {
    const std::string where = fmt::format("step {} (", step);
    return std::ranges::any_of(certified.verdict.findings, [&](const check::Finding& finding) {
      return finding.standing == check::Standing::assumed && finding.where.starts_with(where) &&
             finding.detail.find("the sign of a zero does not matter") != std::string::npos;
    });
  }

  // The text of a stage has no plan that keeps products as written.
  void look_for_distributed_floats(const pipeline::Compilation& certified) {
    for (std::size_t k = 1; k < certified.stages.size(); ++k)
      if (distributes_floats(certified, k - 1)) signs_of_zeros_ = false;
  }

  // Caches so small that little fits: operands are packed and walked over in parts, and results are stored past them.
  ir::Machine some_machine() {
    ir::Machine machine;
    if (choose_(3) != 2) return machine;
    note("small caches");
    machine.l1_bytes = std::int64_t{1} << (8 + choose_(4));
    machine.l2_bytes = machine.l1_bytes << choose_(4);
    machine.l3_bytes = choose_(2) ? 63 : machine.l2_bytes;
    return machine;
  }

  void natively(BlockProgram blocks, const Program& sharded) {
    if (!native_) return;
    const ir::Machine machine = some_machine();
    backend::CompiledProgram lowered = backend::lower(blocks, trial_.strict, machine);
    backend::Schedule schedule = backend::schedule(lowered.blocks, lowered.kernels);
    if (std::string why = check::test::refusal_of(sharded, schedule); !why.empty()) trial_.failure = "refused: " + why;
    if (!trial_.failure.empty() || choose_(2)) return;
    if ((trial_.fuse_more || trial_.features.count("groups")) && has_known_failure(KnownFailure::native_groups)) return;
    backend::ExecuteOptions options;
    options.threads = static_cast<std::size_t>(1 + choose_(2));
    options.exact_arithmetic = trial_.strict;
    options.machine = machine;
    note(options.threads == 2 ? "native, two threads" : "native, one thread");
    if (trial_.fuse_more) note("native, fuse_auto");
    std::vector<Tensor> found;
    for (const Tensor& t : expected_) found.emplace_back(t.type(), t.shape());
    backend::Executable(std::move(blocks), options).run(inputs_, found);
    for (std::size_t k = 0; k < found.size(); ++k)
      if (!guard_is_intact(found[k])) trial_.failure = fmt::format("native code writes behind result {}", k);
    agree(found, "native code");
  }

  void note(const char* feature) { trial_.features.insert(feature); }
  void note(const char* feature, bool there) {
    if (there) note(feature);
  }

  void note_plan(const Program& program, const BlockProgram& blocks) {
    for (const BlockGraph& graph : blocks.graphs)
      for (const Task& task : graph.tasks) note("transfers", std::holds_alternative<Move>(task));
    for (const Decision& d : trial_.plan.decisions) {
      if (auto* split = std::get_if<PlannedSplit>(&d)) note("uneven splits", !split->blocks.boundaries.empty());
      note("repetitions unrolled", std::holds_alternative<PlannedUnroll>(d));
    }
    for (const Value& v : program[program.main].values) {
      note("partials", writes_partials(v.name));
      note("staged writes", v.name.find(".staged") != std::string::npos);
    }
    for (const Graph& graph : program.graphs)
      for (const Operation& operation : graph.operations) note_operation(program[operation.op], operation);
  }

  void note_operation(const Operator& op, const Operation& operation) {
    for (const BlockPlacement& placed : operation.placements)
      note("shardings followed", placed.axis && program_[placed.mesh].name == "s");
    if (!op.region() || op.region()->kind != RegionKind::group) return;
    note("groups");
    note("groups that are cut", !op.blockings.empty());
    for (const IndexDim& dim : op.dims) note("groups that stream", dim.role == DimRole::reduction);
  }

  Trial& trial_;
  Program program_;
  Choices& choose_;
  const bool native_;
  std::vector<Tensor>&inputs_ = trial_.inputs, &expected_ = trial_.expected;
  bool signs_of_zeros_ = true;  // do they matter? Not after a step that says so
};

}  // namespace

const std::vector<PlanFeature>& plan_features() {
  static const std::vector<PlanFeature> features = {
      {"transfers", 30},
      {"choices", 3},
      {"uneven splits", 10},
      {"partials", 10},
      {"shardings followed", 4},
      {"groups", 10},
      {"groups that are cut", 5},
      {"groups that stream", 1},
      {"staged writes", 1},
      {"repetitions unrolled", 1},
      {"stage texts", 5},
      {"small caches", 5},
      {"strict", 5},
      {"defaults", 5},
      {"native, one thread", 10},
      {"native, two threads", 10},
      {"decided", 3},
      {"decided in shards", 0.3},
      {"decided under a plan", 0.3},
      {"native, fuse_auto", 3},
  };
  return features;
}

std::string difference(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, std::size_t rounded,
                       bool signs_of_zeros) {
  if (found.size() != expected.size()) return "another number of results";
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Tensor& a = found[k];
    const Tensor& b = expected[k];
    if (a.type() != b.type() || a.shape() != b.shape()) return fmt::format("result {} has another type", k);
    const bool near = k + rounded >= found.size();
    for (std::int64_t c = 0; c < a.size(); ++c)
      if (!(near ? near_cell(a, b, c) : same_cell(a, b, c)) && (signs_of_zeros || !both_zero(a, b, c)))
        return fmt::format("result {}, cell {} of {}: {}, not {}", k, c, to_string(a.shape()), shown(a, c),
                           shown(b, c));
  }
  return "";
}

std::vector<Tensor> by_the_oracle(const std::string& text, const std::vector<Tensor>& inputs) {
  static SourceMap library_source;
  static Diagnostics none;
  static const ast::Module library =
      *parse(library_source, library_source.add("std.tap", std::string(embedded::std_tap)), {}, none);
  SourceMap sources;
  Diagnostics diagnostics;
  auto module = parse(sources, sources.add("random.tap", text), {}, diagnostics);
  if (!module) throw oracle::Fault("does not parse");
  return oracle::evaluate(*module, library, inputs);
}

Trial attempt(const std::vector<std::uint8_t>& bytes, bool native) {
  Choices choose(bytes);
  Trial trial;
  trial.source = generate(choose);
  try {
    if (auto program = compiled(trial.source.text, trial.failure))
      Evaluation(trial, std::move(*program), choose, native).run();
  } catch (const EvaluationError& e) { trial.failure = "stops: " + e.message; } catch (const oracle::Stop& e) {
    trial.failure = std::string("the oracle stops: ") + e.what();
  } catch (const oracle::Fault& e) {
    trial.failure = std::string("the oracle finds a fault: ") + e.what();
  } catch (const Failure& f) {
    // Of a random plan some decisions cannot be: blocks of a group that would interleave, for one.
    if (trial.plan.decisions.empty()) trial.failure = "fails without a plan: " + f.diagnostic.message;
    else trial.refused = true;
  } catch (const std::exception& e) { trial.failure = std::string("internal error: ") + e.what(); }
  trial.used = choose.used();
  return trial;
}

}  // namespace tap::random
