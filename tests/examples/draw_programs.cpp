// Programs for measurements: every standard operator and every example at sizes drawn at random, with random plans beside
// each, as files that tapc reads. scripts/measure_plans.py runs and predicts them.
//
//   draw_programs [--sizes 3] [--plans 20] [--seed 1] [--only softmax] [--examples FOLDER] FOLDER
//
// Writes NAME.K.ir and NAME.K.N.plan. The sizes of K = 0, 1, 2, … have about 10⁴, 10⁵·⁵, 10⁷, 10⁴ … points.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "ir/text.h"
#include "passes/pass_manager.h"
#include "support/diagnostic.h"
#include "tests/examples/draw_options.h"
#include "tests/examples/programs.h"
#include "tests/examples/sizes.h"
#include "tests/passes/random_groups.h"

namespace tap {
namespace {

using Dims = std::map<std::string, std::int64_t>;

// The examples at about the sizes that their files declare.
const Example measured_examples[] = {
    {"linear.tap", {{"batch", 512}, {"in", 1024}, {"out", 1024}}},
    {"mlp.tap", {{"batch", 512}, {"width", 512}, {"hidden", 1024}}},
    {"attention.tap", {{"heads", 16}, {"n", 1024}, {"d", 64}}},
    {"transformer.tap", {{"layers", 2}, {"n", 256}, {"model", 256}, {"heads", 4}, {"d", 64}, {"wide", 1024}}},
    {"convnet.tap", {{"batch", 16}, {"size", 64}, {"c1", 32}, {"c2", 64}, {"classes", 10}}},
    {"jacobi.tap", {{"n", 1024}, {"steps", 40}}},
    {"heat.tap", {{"n", 128}, {"steps", 10}}},
    {"life.tap", {{"n", 1024}, {"steps", 40}}},
    {"cg.tap", {{"n", 1024}, {"steps", 40}}},
    {"mttkrp.tap", {{"l", 200}, {"m", 200}, {"n", 200}, {"terms", 32}}},
    {"kmeans.tap", {{"points", 20000}, {"clusters", 16}, {"d", 8}, {"steps", 10}}},
    {"nearest.tap", {{"points", 20000}, {"queries", 256}}},
    {"fft.tap", {}},
    {"recurrence.tap", {{"n", 2048}, {"d", 256}, {"states", 16}}},
    {"logistic.tap", {{"samples", 20000}, {"features", 64}}},
};

struct Drawn : DrawOptions {
  std::uint64_t sizes = 3;
  std::string examples;
};

class Drawer {
 public:
  explicit Drawer(const Drawn& options) : options_(options) {}

  void operators() {
    StandardOperators operators(laws_);
    for (const driver::Signature& signature : operators.all()) {
      if (signature.name.find(options_.only) == std::string::npos) continue;
      numbers_.seed(own_seed(signature.name));
      for (std::uint64_t k = 0; k < options_.sizes; ++k)
        if (std::optional<ir::Program> program =
                of_about(std::pow(10, 4 + 1.5 * static_cast<double>(k % 3)), operators, signature))
          write(signature.name + "." + std::to_string(k), *program);
    }
  }

  void examples() {
    for (const Example& example : measured_examples) {
      if (std::string(example.file).find(options_.only) == std::string::npos) continue;
      numbers_.seed(own_seed(example.file));
      const std::string source = text_of_file(std::filesystem::path(options_.examples) / example.file);
      for (const std::string& name : programs_in(source))
        for (std::uint64_t k = 0; k < (example.dims.empty() ? 1 : options_.sizes); ++k)
          write("example_" + name + "." + std::to_string(k),
                example_program(example.file, source, name, near(example.dims, k), laws_));
    }
  }

  int report() const {
    std::printf("%llu programs, %llu plans\n", static_cast<unsigned long long>(programs_),
                static_cast<unsigned long long>(plans_));
    return programs_ ? 0 : 1;
  }

 private:
  std::uint64_t own_seed(const std::string& name) const {
    std::uint64_t seed = options_.seed;
    for (char c : name) seed = 1099511628211u * (seed ^ static_cast<unsigned char>(c));
    return seed;
  }
  std::int64_t choose(std::int64_t below) {
    return static_cast<std::int64_t>((numbers_() >> 24) % static_cast<std::uint64_t>(std::max<std::int64_t>(1, below)));
  }

  // The sizes themselves first, then up to eight times smaller ones.
  Dims near(Dims dims, std::uint64_t k) {
    if (k == 0) return dims;
    for (auto& [name, size] : dims) size = std::max<std::int64_t>(1, size - choose(size * 7 / 8));
    return dims;
  }

  // Dims are drawn until their points, or cells, are within a factor of 3 of `points`; none if the operator has no such sizes.
  std::optional<ir::Program> of_about(double points, StandardOperators& operators, const driver::Signature& signature) {
    std::optional<ir::Program> nearest;
    double nearest_distance = 0;
    double most = std::log(points);
    std::vector<std::string> names = operators.dims(signature);
    std::ranges::copy(operators.packs(signature), std::back_inserter(names));
    for (int attempt = 0; attempt < 60; ++attempt) {
      Dims dims;
      for (const std::string& dim : names)
        dims[dim] = static_cast<std::int64_t>(std::lround(std::exp(static_cast<double>(choose(1000)) / 1000 * most)));
      try {
        ir::Program program = operators.at(signature, dims);
        const double own = std::max(tap::points(program), cells(program));
        const double distance = std::abs(std::log(own / points));
        if (!nearest || distance < nearest_distance) nearest = std::move(program), nearest_distance = distance;
        if (distance < std::log(3)) break;
        if (own > points) most *= 0.9;
      } catch (const Failure&) {
        most *= 0.95;  // sizes that do not fit together
      } catch (const driver::Reported&) { most *= 0.95; }
    }
    return nearest_distance < std::log(30) ? nearest : std::nullopt;
  }
  // Of all values: few points may read of large tensors.
  static double cells(const ir::Program& program) {
    double all = 0;
    for (const ir::Value& value : program[program.main].values) {
      double product = 1;
      for (std::int64_t size : value.type.shape) product *= static_cast<double>(size);
      all += product;
    }
    return all;
  }

  void write(const std::string& name, ir::Program program) {
    const std::filesystem::path folder = options_.folder;
    std::ofstream(folder / (name + ".ir")) << print(program);
    ++programs_;
    program.meshes = passes::test::random_meshes();
    const ir::Program lowered = passes::run(passes::lowering(), program).program;
    auto draw = [&](std::int64_t below) { return choose(below); };
    for (std::uint64_t n = 0; n < options_.plans; ++n) {
      ir::Plan plan = passes::test::random_plan(draw, lowered).plan;
      std::erase_if(plan.decisions, is_of_a_mesh_alone);
      for (ir::Decision& decision : plan.decisions) on_one_device(decision);
      std::ofstream(folder / (name + "." + std::to_string(n) + ".plan")) << print(plan);
      ++plans_;
    }
  }
  // What only devices can do: split an input, or give them a whole operation.
  static bool is_of_a_mesh_alone(const ir::Decision& decision) {
    auto* split = std::get_if<ir::PlannedSplit>(&decision);
    return split && (split->all_at || split->dim.starts_with("axis "));
  }
  // Blocks on threads instead of devices.
  static void on_one_device(ir::Decision& decision) {
    auto* split = std::get_if<ir::PlannedSplit>(&decision);
    if (!split || !split->axis) return;
    split->placement = ir::Placement::threads;
    split->axis.reset();
    split->mesh.clear();
    split->devices.clear();
  }

  const Drawn& options_;
  LawMemory laws_;
  std::mt19937_64 numbers_;
  std::uint64_t programs_ = 0, plans_ = 0;
};

Drawn what_to_draw(int argc, char** argv) {
  Drawn options;
  options.plans = 20;
  options.read(argc, argv, [&](const std::string& option, const char* value) {
    if (option == "--sizes") options.sizes = std::strtoull(value, nullptr, 10);
    else if (option == "--examples") options.examples = value;
    else return false;
    return true;
  });
  return options;
}

}  // namespace
}  // namespace tap

int main(int argc, char** argv) {
  const tap::Drawn options = tap::what_to_draw(argc, argv);
  tap::Drawer drawer(options);
  drawer.operators();
  if (!options.examples.empty()) drawer.examples();
  return drawer.report();
}
