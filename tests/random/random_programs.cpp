// Random Tap programs of all element types under random plans and shardings: the text on the oracle, the interpreter, and what
// the passes, the plan and the backend made of it, must give the same bits (trial.h).
//
//   random_programs [--seed N] [--count N] [--reduce no] [--keep-going yes] [--print yes] [--dump FOLDER]
//
// With --dump, no native code runs here: each program is written to a folder of its own, with its plan, its inputs and what the
// oracle makes of them, for other_targets.py.
//
// Prints how much of the language the programs used. A failing program is reduced and shown with its plan and seed.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "ir/text/plan_text.h"
#include "tests/random/trial.h"

namespace tap::random {
namespace {

struct Options {
  std::uint64_t seed = 1, count = 300;
  bool reduce = true, keep_going = false, print = false;
  std::string dump;
};

unsigned long long number(std::uint64_t n) { return n; }

void report(std::uint64_t seed, const Trial& first, bool reduce) {
  if (!reduce) {
    std::printf("seed %llu: %s\n", number(seed), first.failure.c_str());
  } else {
    const Trial smallest = attempt(reduced(bytes_of(seed)));
    std::printf("seed %llu: %s\nreduced: %s\n\n%s\n%s\n", number(seed), first.failure.c_str(), smallest.failure.c_str(),
                smallest.source.text.c_str(),
                (print(smallest.plan) + (smallest.fuse_more ? "and fuse_auto\n" : "") +
                 (smallest.strict ? "and --strict-fp\n" : ""))
                    .c_str());
  }
  std::fflush(stdout);
}

// How many features are too rare: a generator that hardly makes them tests little of them.
int coverage(std::map<std::string, std::uint64_t> seen, std::uint64_t count) {
  std::map<std::string, double> required;
  for (const std::string& feature : all_features()) required[feature] = 1;
  for (const PlanFeature& feature : plan_features()) required[feature.name] = feature.least;
  int missing = 0;
  for (const auto& [feature, least] : required) {
    const double share = 100.0 * static_cast<double>(seen[feature]) / static_cast<double>(count);
    const bool rare = count >= 300 && share < least;
    std::printf("  %-26s %5.1f %%%s\n", feature.c_str(), share, rare ? "  too rare" : "");
    missing += rare;
  }
  std::printf("  %-26s %5.1f %%\n", "a plan refused",
              100.0 * static_cast<double>(seen["a plan refused"]) / static_cast<double>(count));
  return missing;
}

// program.tap, plan (may be empty), options, tensors (a line each: const, input, output or rounded; type; bytes), data.
void dump(const std::filesystem::path& folder, const Trial& trial) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "program.tap") << "mesh m = [x: 2, y: 3, z: 4]\n" << trial.source.text;
  std::ofstream(folder / "plan") << print(trial.plan);
  std::ofstream(folder / "options") << "--evaluations 0 " << (trial.strict ? "--strict-fp " : "");
  std::ofstream tensors(folder / "tensors"), data(folder / "data", std::ios::binary);
  auto add = [&](const char* role, const Tensor& t) {
    tensors << role << " " << name_of(t.type()) << " " << t.byte_size() << "\n";
    data.write(reinterpret_cast<const char*>(t.data()), static_cast<std::streamsize>(t.byte_size()));
  };
  for (std::size_t k = 0; k < trial.inputs.size(); ++k)
    add(trial.source.constant[k] ? "const" : "input", trial.inputs[k]);
  for (std::size_t k = 0; k < trial.expected.size(); ++k)
    add(k + trial.source.rounded >= trial.expected.size() ? "rounded" : "output", trial.expected[k]);
}

int run(const Options& options) {
  std::map<std::string, std::uint64_t> seen;
  std::uint64_t failed = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t n = 0; n < options.count; ++n) {
    const Trial trial = attempt(bytes_of(options.seed + n), options.dump.empty());
    if (!options.dump.empty() && trial.failure.empty() && !trial.refused && !trial.sharded)
      dump(std::filesystem::path(options.dump) / std::to_string(options.seed + n), trial);
    if (options.print) std::printf("%s\n%s\n", trial.source.text.c_str(), print(trial.plan).c_str());
    if (!trial.failure.empty()) {
      report(options.seed + n, trial, options.reduce);
      if (!options.keep_going) return 1;
      ++failed;
    }
    for (const auto* features : {&trial.source.features, &trial.features})
      for (const std::string& feature : *features) ++seen[feature];
    seen["a plan refused"] += trial.refused;
    if (constexpr std::uint64_t often = 500; (n + 1) % often == 0)  // of a run that is cut off, as far as it came
      std::fprintf(stderr, "%llu done\n", number(n + 1));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("seed %llu, %llu programs in %.1f s\n", number(options.seed), number(options.count), seconds.count());
  const int missing = coverage(std::move(seen), options.count);
  std::printf("%llu passed, %llu failed\n", number(options.count - failed), number(failed));
  return failed ? 1 : missing && options.dump.empty() ? 2 : 0;
}

}  // namespace
}  // namespace tap::random

int main(int argc, char** argv) {
  tap::random::Options options;
  for (int a = 1; a + 1 < argc; a += 2) {
    auto is = [&](const char* word) { return std::strcmp(argv[a], word) == 0; };
    const bool no = std::strcmp(argv[a + 1], "no") == 0;
    if (is("--seed")) options.seed = std::strtoull(argv[a + 1], nullptr, 10);
    if (is("--count")) options.count = std::strtoull(argv[a + 1], nullptr, 10);
    if (is("--reduce")) options.reduce = !no;
    if (is("--keep-going")) options.keep_going = !no;
    if (is("--dump")) options.dump = argv[a + 1];
    if (is("--print")) options.print = !no;
  }
  return tap::random::run(options);
}
