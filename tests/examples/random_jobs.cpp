// Standard operators and examples under random plans and random shardings that divide them over devices, drawn across all
// of them: the processes of an MPI job run one list of programs. Each is run by the first process alone, on 1 and on 3
// threads, and by all processes together: the results have the same bits, on integers and on random floats, and those on
// integers are the interpreter's.
//
//   mpirun -n 3 random_jobs [--plans 50] [--shardings 50] [--seed 1] [--only softmax] [--kernels smooth.so] EXAMPLES_FOLDER
//
// Without a launcher it is one process. A program that differs is printed with what reproduces it.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <set>

#include "compiler/driver/bindings/outside_kernels.h"
#include "compiler/driver/engine.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/shared_results.h"
#include "compiler/pipeline/failures.h"
#include "passes/pass_manager.h"
#include "runtime/tensors/tensor_part.h"
#include "tests/driver/certified.h"
#include "tests/examples/comparable.h"
#include "tests/examples/draw_options.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"
#include "tests/passes/random_groups.h"
#include "tests/random/random_shardings.h"

namespace tap {
namespace {

struct ListOptions : DrawOptions {
  std::vector<std::string> kernels;
};

struct Numbers {
  std::mt19937_64 source;
  std::int64_t operator()(std::int64_t n) {
    return static_cast<std::int64_t>((source() >> 24) % static_cast<std::uint64_t>(std::max<std::int64_t>(1, n)));
  }
};

// Of one program: inputs of small integers and of random floats.
struct Values {
  std::vector<Tensor> small, random;
  ir::InterpretResult expected;  // of the small ones
};

struct NamedProgram {
  std::string name;
  std::function<ir::Program()> made;
};

std::vector<NamedProgram> subjects(const ListOptions& options, LawMemory& laws, StandardOperators& operators) {
  std::vector<NamedProgram> all;
  for (const driver::Signature& signature : operators.all())
    all.push_back({signature.name, [&operators, signature] { return operators.small(signature); }});
  for (const Example& example : examples) {
    const std::string source = text_of_file(std::filesystem::path(options.folder) / example.file);
    for (const std::string& name : programs_in(source))
      all.push_back({std::string(example.file) + " " + name, [&laws, &example, source, name] {
                       return example_program(example.file, source, name, example.dims, laws);
                     }});
  }
  std::erase_if(all, [&](const NamedProgram& one) { return one.name.find(options.only) == std::string::npos; });
  return all;
}

Values values_of(const ir::Program& program, const driver::OutsideKernels& kernels, Numbers& numbers) {
  Values values;
  ir::InterpretOptions how;
  how.with_bounds = true;
  how.kernel = [&](const ir::Operator& op, const std::vector<Tensor>& operands, std::vector<Tensor>& results) {
    kernels.call(op, operands, results);
    return true;
  };
  auto evaluate = [&](bool small_ids) {
    values.small.clear();
    for (ir::ValueId v : program[program.main].inputs) {
      const ir::TensorType& type = program[program.main][v].type;
      values.small.push_back(
          small_integers(type.element, type.shape, static_cast<std::int64_t>(values.small.size()), small_ids));
    }
    values.expected = ir::interpret(program, program.main, values.small, how);
  };
  try {
    evaluate(false);
  } catch (const ir::EvaluationError&) { evaluate(true); }
  for (const Tensor& one : values.small) {
    Tensor random(one.type(), one.shape());
    for (std::int64_t k = 0; k < random.size(); ++k)
      if (is_float(one.type())) random.store_f64(k, static_cast<double>(numbers(1 << 20)) / (1 << 19) - 1);
      else random.store_i64(k, one.load_i64(k));
    values.random.push_back(std::move(random));
  }
  return values;
}

// Whether devices compute parts of something.
bool is_divided(const ir::Program& program) {
  for (const ir::Graph& graph : program.graphs)
    for (const ir::Operation& operation : graph.operations)
      if (std::ranges::any_of(operation.placements, [](const ir::BlockPlacement& p) { return on_devices(p); }))
        return true;
  return false;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (a[k].byte_size() != b[k].byte_size() || std::memcmp(a[k].data(), b[k].data(), a[k].byte_size()) != 0)
      return false;
  return true;
}

class RandomJob {
 public:
  RandomJob(const ListOptions& options, driver::MpiHost& host) : options_(options), host_(host) {}

  // Every process draws the same.
  void run() {
    LawMemory laws;
    StandardOperators operators(laws);
    const std::vector<NamedProgram> all = subjects(options_, laws, operators);
    for (std::uint64_t n = 0; n < options_.plans; ++n) draw(all, options_.seed + n, true);
    for (std::uint64_t n = 0; n < options_.shardings; ++n) draw(all, options_.seed + n, false);
  }

  int report() const {
    if (!host_.is_first()) return 0;
    std::printf(
        "seed %llu, %lld processes: %zu plans and %zu shardings of %zu programs, results of %zu in several processes: "
        "%zu failed\n",
        static_cast<unsigned long long>(options_.seed), static_cast<long long>(host_.size()), plans_, shardings_,
        names_.size(), shared_, failed_);
    // All draws are divided over devices; the results of some are combined in one place.
    const bool enough = plans_ == options_.plans && shardings_ == options_.shardings &&
                        (host_.size() == 1 || 8 * shared_ >= options_.plans + options_.shardings);
    if (!enough) std::printf("too few of them\n");
    return failed_ > 0 || !enough ? 1 : 0;
  }

 private:
  void draw(const std::vector<NamedProgram>& all, std::uint64_t seed, bool plan) {
    Numbers numbers{std::mt19937_64(2 * seed + (plan ? 1 : 0))};
    for (int tries = 0; tries < 100; ++tries) {
      const NamedProgram& subject = all[static_cast<std::size_t>(numbers(static_cast<std::int64_t>(all.size())))];
      ir::Program program = subject.made();
      const ir::Program whole = program;
      pipeline::Options how;
      if (plan) {
        program.meshes = passes::test::random_meshes();
        auto made = passes::test::random_plan(numbers, passes::run(passes::lowering(), program).program);
        how.plan = std::move(made.plan);
        how.fuse_more = made.fuse_more;
      } else {
        random::shard_at_random(program, numbers);
      }
      how.stop = pipeline::Stage::sharded;
      try {
        const ir::Program sharded = pipeline::compile(program, how).program;
        if (!is_divided(sharded)) continue;
        const driver::OutsideKernels kernels(whole, options_.kernels);
        const Values values = values_of(whole, kernels, numbers);
        const std::string name = subject.name + ", seed " + std::to_string(seed) + (plan ? ", plan" : ", sharding");
        try {
          try_it(name, sharded, values);
        } catch (...) {  // an error in one process ends the job
          std::printf("FAILED %s\n%s\n", name.c_str(), print(sharded).c_str());
          throw;
        }
      } catch (const pipeline::PlanRefused&) { continue; }  // a random plan may ask for what cannot be
      names_.insert(subject.name);
      ++(plan ? plans_ : shardings_);
      return;
    }
  }

  void try_it(const std::string& name, const ir::Program& program, const Values& values) {
    is_shared_ = false;
    std::string failure;
    for (const std::vector<Tensor>* inputs : {&values.small, &values.random}) {
      const std::vector<Tensor> together = in_the_job(program, *inputs);
      if (!host_.is_first()) continue;
      const std::vector<Tensor> alone = on_threads(program, *inputs, 1);
      if (!same_bits(on_threads(program, *inputs, 3), alone)) failure += "1 and 3 threads differ; ";
      if (!same_bits(together, alone)) failure += "threads and processes differ; ";
      if (inputs == &values.small) failure += difference(alone, values.expected);
    }
    shared_ += is_shared_;
    if (failure.empty()) return;
    ++failed_;
    std::printf("FAILED %s: %s\n%s\n", name.c_str(), failure.c_str(), print(program).c_str());
  }

  driver::EngineOptions engine(std::size_t threads) const {
    driver::EngineOptions how;
    how.threads = threads;
    how.kernels = options_.kernels;
    how.cache.without = true;
    how.self_check = false;  // other tests do it
    how.cluster = cost::builtin_cluster(cost::builtin({}, 2));
    return how;
  }
  std::vector<Tensor> on_threads(const ir::Program& program, const std::vector<Tensor>& inputs,
                                 std::size_t threads) const {
    return driver::evaluate(session_, program, inputs, engine(threads)).results;
  }
  // In the first process; nothing in others.
  std::vector<Tensor> in_the_job(const ir::Program& program, const std::vector<Tensor>& inputs) {
    driver::EngineOptions how = engine(1 + names_.size() % 2);
    how.host = &host_;
    auto read = [&](const std::vector<backend::HeldPart>& parts) {
      std::vector<Tensor> cells;
      for (const backend::HeldPart& part : parts) {
        TensorPart box;
        for (const ir::Range& range : part.box.dims) {
          box.begin.push_back(range.lo);
          box.shape.push_back(range.size());
        }
        cells.push_back(cut(inputs[part.tensor], box));
      }
      return cells;
    };
    driver::SharedResults results{host_, {}, driver::evaluate_shared(session_, program, read, how)};
    is_shared_ |= std::ranges::any_of(results.evaluation.parts.begin() + 1, results.evaluation.parts.end(),
                                      [](const auto& parts) { return !parts.empty(); });
    for (const ir::TensorType& type : results.evaluation.types) results.declared.push_back({"", type.element});
    std::vector<Tensor> whole;
    for (NamedTensor& one : driver::gather(results, std::vector<bool>(results.declared.size(), true)))
      whole.push_back(std::move(one.tensor));
    return whole;
  }

  const ListOptions& options_;
  driver::MpiHost& host_;
  driver::Session session_;
  std::set<std::string> names_;
  bool is_shared_ = false;  // the last one: other processes have parts of its results
  std::size_t plans_ = 0, shardings_ = 0, shared_ = 0, failed_ = 0;
};

ListOptions options_of(int argc, char** argv) {
  ListOptions options;
  options.plans = options.shardings = 50;
  options.read(argc, argv, [&](const std::string& option, const char* value) {
    if (option == "--kernels") options.kernels.emplace_back(value);
    return option == "--kernels";
  });
  return options;
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) {
  const tap::ListOptions options = tap::options_of(argc, argv);
  int code = 1;
  try {
    tap::RandomJob job(options, tap::driver::MpiHost::start());
    job.run();
    code = job.report();
  } catch (const tap::Failure& failure) {
    std::printf("FAILED %s\n", failure.diagnostic.message.c_str());
  } catch (const tap::ir::EvaluationError& error) {
    std::printf("FAILED %s\n", error.message.c_str());
  } catch (const std::exception& error) { std::printf("FAILED %s\n", error.what()); }
  std::fflush(stdout);
  tap::driver::MpiHost::leave(code);
  return code;
}
