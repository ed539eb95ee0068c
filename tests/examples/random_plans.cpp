// Every standard operator and every example, at small sizes, under random plans, and under random shardings of its values on
// meshes of its own (axes of 1 to 8 devices, parts of axes, sizes that do not divide): what the passes and the plan made of
// it is certified and computes the same, as a whole and on devices of their own. Bit by bit where the data allow it, else within
// twice the oracle's bound on the rounding error, since each of two evaluations may be off by it.
//
//   random_plans [--plans 20] [--shardings 0] [--seed 1] [--only softmax] [--mlir FILE] [EXAMPLES_FOLDER]
//
// With --mlir nothing is run: the programs with their shardings are written as MLIR, for mlir-opt --split-input-file.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "compiler/driver/read_plan.h"
#include "compiler/driver/show/emit_mlir.h"
#include "ir/block_program.h"
#include "ir/interpret/interpret_blocks.h"
#include "passes/pass_manager.h"
#include "passes/splits/expand.h"
#include "tests/check/certified.h"
#include "tests/driver/certified.h"
#include "tests/examples/comparable.h"
#include "tests/examples/draw_options.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"
#include "tests/passes/random_groups.h"
#include "tests/random/random_shardings.h"

namespace tap {
namespace {

struct Options : DrawOptions {
  std::string mlir;
};

struct Counts {
  std::uint64_t plans = 0, shardings = 0;
  std::uint64_t followed = 0,
                left_whole = 0;  // of the shardings: something is split over the mesh; something is not, and told
};

// Any function of a row and its neighbours does for smooth_rows.
bool outside_kernel(const ir::Operator&, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
  const Tensor& x = operands.at(0);
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  for (std::int64_t c = 0; c < x.size(); ++c) {
    std::int64_t row = c / columns;
    double above = row > 0 ? x.load_f64(c - columns) : 0, below = row + 1 < rows ? x.load_f64(c + columns) : 0;
    results.at(0).store_f64(c, above + x.load_f64(c) + below);
  }
  return true;
}

class Subject {
 public:
  Subject(std::string name, ir::Program program) : name_(std::move(name)), program_(std::move(program)) {
    program_.meshes = passes::test::random_meshes();
    options_.kernel = outside_kernel;
    try {
      evaluate(false);
    } catch (const ir::EvaluationError&) { evaluate(true); }
    lowered_ = passes::run(passes::lowering(), program_).program;
  }

  // False, and told, if a plan changes it.
  bool under_plans(const Options& options, Counts& counts) {
    std::mt19937_64 numbers(options.seed);
    auto choose = [&](std::int64_t n) {
      return static_cast<std::int64_t>((numbers() >> 24) % std::max<std::uint64_t>(1, static_cast<std::uint64_t>(n)));
    };
    for (std::uint64_t done = 0, tried = 0; done < options.plans && tried < 4 * options.plans; ++tried) {
      const auto [plan, fuse_more] = passes::test::random_plan(choose, lowered_);
      try {
        std::string failure = trial(program_, plan, fuse_more);
        if (!failure.empty()) {
          std::printf("FAILED %s: %s\n%s\n", name_.c_str(), failure.c_str(), print(plan).c_str());
          return false;
        }
        ++done, ++counts.plans;
      } catch (const pipeline::PlanRefused&) {}  // a random plan may ask for what cannot be
    }
    return true;
  }

  // The same under random shardings of its values, which nothing may refuse.
  bool under_shardings(const Options& options, Counts& counts) {
    for (std::uint64_t n = 0; n < options.shardings; ++n) {
      std::mt19937_64 numbers(own_seed(options.seed + n));
      auto choose = [&](std::int64_t below) {
        return static_cast<std::int64_t>((numbers() >> 24) %
                                         static_cast<std::uint64_t>(std::max<std::int64_t>(1, below)));
      };
      ir::Program program = program_;
      random::shard_at_random(program, choose);
      std::string failure;
      try {
        if (options.mlir.empty()) failure = trial(program, {}, false);
        else write_mlir(program, options.mlir);
      } catch (const Failure& f) { failure = f.diagnostic.message; }
      if (!failure.empty()) {
        std::printf("FAILED %s, seed %llu: %s\n%s\n", name_.c_str(), static_cast<unsigned long long>(options.seed + n),
                    failure.c_str(), print(program).c_str());
        return false;
      }
      ++counts.shardings;
      counts.followed += is_split_;
      counts.left_whole += left_whole_;
    }
    return true;
  }

 private:
  void evaluate(bool small_ids) {
    inputs_.clear();
    for (ir::ValueId v : program_[program_.main].inputs) {
      const ir::TensorType& type = program_[program_.main][v].type;
      inputs_.push_back(small_integers(type.element, type.shape, static_cast<std::int64_t>(inputs_.size()), small_ids));
    }
    ir::InterpretOptions with_bounds = options_;
    with_bounds.with_bounds = true;
    expected_ = ir::interpret(program_, program_.main, inputs_, with_bounds);
  }

  void write_mlir(const ir::Program& program, const std::string& path) {
    std::string text;
    try {
      text = driver::mlir_text(passes::run(passes::lowering(), program).program);
    } catch (const Failure& refused) { text = "// " + refused.diagnostic.message + "\n"; }
    std::ofstream(path, std::ios::app) << "// " << name_ << "\n" << text << "// -----\n";
    is_split_ = true;
  }

  // Each subject has numbers of its own.
  std::uint64_t own_seed(std::uint64_t seed) const {
    for (char c : name_) seed = 1099511628211u * (seed ^ static_cast<unsigned char>(c));
    return seed;
  }

  std::string trial(const ir::Program& program, const ir::Plan& plan, bool fuse_more) {
    pipeline::Compilation certified = driver::test::certified(program, plan, pipeline::Stage::sharded, fuse_more);
    for (const check::Finding& finding : certified.verdict.findings)
      if (finding.standing == check::Standing::refused) return "refused: " + finding.where + ": " + finding.detail;
    // What the steps between computed is proved; the random programs evaluate them all.
    const ir::Program& last = certified.stages.back();
    is_split_ = left_whole_ = false;
    for (const ir::Graph& graph : last.graphs)
      for (const ir::Operation& operation : graph.operations)
        for (const ir::BlockPlacement& placed : operation.placements)
          is_split_ |= placed.axis && last[placed.mesh].name == "s";
    for (const Diagnostic& diagnostic : certified.reported) left_whole_ |= diagnostic.code == Code::pass_declined;
    if (std::string d = difference(ir::interpret(last, last.main, inputs_, options_).outputs, expected_); !d.empty())
      return "the plan changes the result: " + d;
    ir::BlockProgram blocks = passes::expand(last);
    if (std::string why = check::test::refusal_of(blocks); !why.empty()) return "refused: " + why;
    std::string d = difference(interpret(blocks, inputs_, options_).outputs, expected_);
    return d.empty() ? "" : "the devices compute something else: " + d;
  }

  std::string name_;
  ir::Program program_, lowered_;
  std::vector<Tensor> inputs_;
  ir::InterpretOptions options_;
  ir::InterpretResult expected_;
  bool is_split_ = false, left_whole_ = false;  // by the last trial
};

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options) {}

  void operators() {
    StandardOperators operators(laws_);
    for (const driver::Signature& signature : operators.all()) {
      if (signature.name.find(options_.only) == std::string::npos) continue;
      run(signature.name, [&] { return operators.small(signature); });
    }
  }

  void files() {
    for (const auto& entry : std::filesystem::directory_iterator(options_.folder)) {
      std::string file = entry.path().filename().string();
      if (entry.path().extension() != ".tap" || file.find(options_.only) == std::string::npos) continue;
      auto known =
          std::find_if(std::begin(examples), std::end(examples), [&](const Example& e) { return e.file == file; });
      if (known == std::end(examples)) fail(file, "has no sizes here");
      else programs_of(*known, entry.path());
    }
  }

  int report() const {
    std::printf("seed %llu: %llu programs under %llu plans and %llu shardings\n", count(options_.seed),
                count(passed_ + failed_), count(counts_.plans), count(counts_.shardings));
    if (counts_.shardings > 0)
      std::printf("%llu shardings cut something, %llu leave something whole\n", count(counts_.followed),
                  count(counts_.left_whole));
    std::printf("%llu passed, %llu failed\n", count(passed_), count(failed_));
    return failed_ || 3 * counts_.followed < counts_.shardings ? 1 : 0;
  }

 private:
  static unsigned long long count(std::uint64_t n) { return n; }

  void programs_of(const Example& example, const std::filesystem::path& path) {
    const std::string source = text_of_file(path);
    for (const std::string& name : programs_in(source))
      run(std::string(example.file) + " " + name,
          [&] { return example_program(example.file, source, name, example.dims, laws_); });
  }

  template <class Compile>
  void run(const std::string& name, Compile compile) {
    try {
      Subject subject(name, compile());
      if (subject.under_plans(options_, counts_) && subject.under_shardings(options_, counts_)) ++passed_;
      else ++failed_;
    } catch (const ir::EvaluationError& e) { fail(name, e.message); } catch (const Failure& e) {
      fail(name, e.diagnostic.message);
    } catch (const std::exception& e) { fail(name, e.what()); }
  }
  void fail(const std::string& name, const std::string& why) {
    ++failed_;
    std::printf("FAILED %s: %s\n", name.c_str(), why.c_str());
  }

  const Options& options_;
  LawMemory laws_;
  Counts counts_;
  std::uint64_t passed_ = 0, failed_ = 0;
};

Options parse_options(int argc, char** argv) {
  Options options;
  options.plans = 20;
  options.read(argc, argv, [&](const std::string& option, const char* value) {
    if (option == "--mlir") options.mlir = value;
    return option == "--mlir";
  });
  return options;
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) {
  tap::Options options = tap::parse_options(argc, argv);
  tap::Runner runner(options);
  runner.operators();
  if (!options.folder.empty()) runner.files();
  return runner.report();
}
