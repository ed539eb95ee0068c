// Every example and every standard operator that reduces: however many threads run it, into however many parts its kernels
// are split, and whatever is known of the machine, the bits are the same, on numbers of which every order of adding gives others.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "backend/llvm/executable.h"
#include "passes/pass_manager.h"
#include "passes/splits/expand.h"
#include "runtime/tensors/generate.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"
#include "tests/frontend/compile_source.h"

namespace tap::driver {
namespace {

struct RunConfig {
  std::size_t threads;
  std::int64_t parts;
  ir::Machine machine;
};
const ir::Machine small{16, 16, 8 << 10, 16 << 10, 64 << 10}, large{64, 32, 64 << 10, 4 << 20, 64 << 20};
const RunConfig configs[] = {{2, 0, {}}, {8, 5, {}}, {1, 3, small}, {8, 0, large}};

std::vector<Tensor> inputs_of(const ir::Graph& graph) {
  std::vector<Tensor> inputs;
  for (ir::ValueId v : graph.inputs) {
    Tensor tensor(graph[v].type.element, graph[v].type.shape);
    if (is_float(tensor.type())) fill(tensor, {Maker::Kind::randn, inputs.size() + 1, {}}, "random");
    for (std::int64_t k = 0; !is_float(tensor.type()) && k < tensor.size(); ++k) tensor.store_i64(k, k % 2);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (std::memcmp(a[k].data(), b[k].data(), static_cast<std::size_t>(a[k].byte_size())) != 0) return false;
  return a.size() == b.size();
}

class Determinism : public testing::Test {
 protected:
  // Whether it ran.
  bool expect_same(const ir::Program& source, const std::string& where) {
    SCOPED_TRACE(where);
    const ir::Program program = passes::run(passes::lowering(), source).program;
    const std::vector<Tensor> inputs = inputs_of(program[program.main]);
    auto run = [&](const RunConfig& config) {
      backend::ExecuteOptions options{.threads = config.threads, .parts = config.parts, .cache = cache_};
      options.machine = config.machine;
      return backend::Executable(passes::expand(program), options).run(inputs);
    };
    try {
      const std::vector<Tensor> expected = run({1, 1, {}});
      for (const RunConfig& config : configs)
        EXPECT_TRUE(same_bits(run(config), expected)) << config.threads << " threads, " << config.parts << " parts";
    } catch (const ir::EvaluationError&) { return false; }  // what it reads is no place in a tensor
    return true;
  }

 private:
  struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("tap-bits-" + std::to_string(::getpid()));
    Folder() {
      std::filesystem::create_directory(path);
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder_;
  std::shared_ptr<backend::KernelCache> cache_ =
      std::make_shared<backend::KernelCache>(backend::CacheOptions{.folder = folder_.path / "kernels", .chosen = true});
};

bool reduces(const ir::Program& program) {
  return std::any_of(program.operators.begin(), program.operators.end(),
                     [](const ir::Operator& op) { return op.reduce() != nullptr; });
}

TEST_F(Determinism, EveryExample) {
  int ran = 0;
  for (const Example& example : examples) {
    if (std::string(example.file) == "smooth.tap") continue;  // its kernel is somebody else's
    const std::string source = text_of_file(std::string(TAP_SOURCE_DIR) + "/examples/" + example.file);
    CompileOptions options;
    options.program = programs_in(source).at(0);
    for (const auto& [dim, size] : example.dims)
      options.dims[dim] = {dim == "layers" || dim == "steps" || dim == "heads" ? size : 8 * size};
    auto outcome = test::compile_text(source, options);
    ASSERT_TRUE(outcome.compiled) << example.file << outcome.messages;
    ran += expect_same(outcome.compiled->program, example.file);
  }
  EXPECT_GE(ran, 13);
}

TEST_F(Determinism, EveryStandardReduction) {
  LawMemory laws;
  StandardOperators operators(laws);
  int ran = 0;
  for (const Signature& signature : operators.all()) {
    ir::Program program = operators.at(signature);
    if (!reduces(program)) continue;
    try {
      ir::Program large = operators.at(signature, 21);
      if (points(large) < 1e7) program = std::move(large);
    } catch (const Failure&) {}  // its dims do not all fit together
    ran += expect_same(program, signature.name);
  }
  EXPECT_GE(ran, 60);
}

}  // namespace
}  // namespace tap::driver
