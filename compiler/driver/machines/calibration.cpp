#include "compiler/driver/machines/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/driver/machines/keys.h"
#include "compiler/driver/machines/trial.h"
#include "compiler/driver/median.h"
#include "cost/work/kernel_work.h"
#include "runtime/pinning.h"

namespace tap::driver {
namespace {

using cost::Device, cost::Instruction;

// One step of a chain, from `{x}` and the neighbouring element `{w}`. Several steps keep the arithmetic units busy.
struct Step {
  Instruction kind;
  const char* floats;  // null: not for this class of types
  const char* integers;
  int times;
};
constexpr Step steps[] = {
    {Instruction::compare, "(if {x} < {w} then {w} else {x} * {w})", "(if {x} < {w} then {w} else {x} * {w})", 6},
    {Instruction::convert, "{f}({i}({x} * {w}))", "{i}({f}({x} + {w}))", 3},
    {Instruction::bits, nullptr, "bitxor(shr({x}, 1), {w})", 6},
    {Instruction::round, "floor({x} * {w})", nullptr, 6},
    {Instruction::divide, "({w} / {x})", "({x} / {w})", 3},
    {Instruction::root, "sqrt({x} + {w})", nullptr, 3},
    {Instruction::exponential, "exp({x} * {w} - 1)", nullptr, 1},
    {Instruction::logarithm, "log(abs({x}) + {w})", nullptr, 1},
    {Instruction::trigonometric, "sin({x} + {w})", nullptr, 1},
    {Instruction::function, "tanh({x} + {w})", nullptr, 1},
};

// Reductions over k of `A[i, k]` and `B[k, j]`: the many accumulators of a register tile have no stalls, and few loads.
struct Tile {
  Instruction kind;
  const char* floats;
  const char* integers;
};
constexpr Tile tiles[] = {
    {Instruction::arithmetic, "sum[k] A[i, k] * B[k, j]", "prod[k] A[i, k] * B[k, j]"},
    {Instruction::add, "sum[k] (A[i, k] + B[k, j])", "sum[k] (A[i, k] + B[k, j])"},
    {Instruction::minimum, "max[k] max(A[i, k], B[k, j])", "max[k] max(A[i, k], B[k, j])"},
};
// Of each product, an addition that is not fused to it.
constexpr Tile mixed = {Instruction::add, "sum[k] (A[i, k] - B[k, j]) * (A[i, k] - B[k, j])",
                        "sum[k] A[i, k] * B[k, j]"};
constexpr const char* chain_of_products = "({x} * {w} + {w})";

std::string with(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

class Calibrator {
 public:
  Calibrator(Session& session, const Device& known, bool has_chosen)
      : session_(session), device_(known), pinned_to_(pinned_to(known.threads, {}, own_processors(has_chosen))) {}

  Calibration run() {
    cycle();
    beginnings();
    first_cache();
    for (ElementType type : {ElementType::f32, ElementType::f64, ElementType::i32, ElementType::i64}) rates(type);
    same_as(ElementType::f16, ElementType::f32);
    same_as(ElementType::bf16, ElementType::f32);
    for (std::size_t level = 1; level < device_.levels.size(); ++level) bandwidth(level, 1);
    if (device_.threads > 1) together();
    return {device_, std::move(measured_)};
  }

 private:
  TrialResult trial(const std::string& text, double seconds = 0.04, std::size_t threads = 1) {
    return run_trial(session_, {text, threads, seconds, false, threads > 1 ? pinned_to_ : std::vector<std::int32_t>()},
                     device_.core);
  }
  void note(const std::string& name, double value, double spread) { measured_.push_back({name, value, spread}); }

  // A sum in the written order is a chain of additions, which take four cycles on most recent processors.
  void cycle() {
    constexpr double cells = 8192;
    const TrialResult sum = run_trial(
        session_, {fmt::format("program p(X: f32[{0}]) -> (Y: f32[]) {{ Y[] = sum[i] X[i] }}\n", cells), 1, 0.1, true},
        device_.core);
    device_.latency = sum.least / cells;
    device_.steps = 4 / device_.latency / 1.5;
    note("latency", device_.latency, sum.spread);
  }

  // An empty program, and one with a thousand trivial operations.
  void beginnings() {
    const TrialResult once = trial("program p(X: f32[16]) -> (Y: f32[16]) { Y[i] = X[i] * 0.5 }\n");
    const TrialResult often =
        trial("program p(X: f32[16]) -> (Y: f32[16]) { Y = iterate 1000 (u = X) { v[i] = u[i] * 0.5\n v } }\n");
    device_.call = std::max((often.least - once.least) / 999, 1e-9);
    device_.run = std::max(once.least - device_.call, 0.0);
    note("call", device_.call, often.spread);
    note("run", device_.run, once.spread);
  }
  double beginning() const { return device_.run + device_.call; }

  // Sums load a register for each addition; copies load one and store one.
  void first_cache() {
    const double bytes = std::floor(device_.levels[0].bytes / 2 / 1024) * 1024, cells = bytes / 4;
    const TrialResult sum = trial(fmt::format("program p(X: f32[{0}]) -> (Y: f32[]) {{ Y[] = sum[i] X[i] }}\n", cells));
    const double registers = bytes / static_cast<double>(device_.core.vector_bytes);
    device_.loads = registers / std::max(sum.least - beginning(), 1e-9);
    note("loads", device_.loads, sum.spread);
    const TrialResult copy =
        trial(fmt::format("program p(X: f32[{0}]) -> (Y: f32[{0}]) {{ Y[i] = X[i] * 0.5 }}\n", cells / 2));
    device_.stores = registers / 2 / std::max(copy.least - beginning(), 1e-9);
    note("stores", device_.stores, copy.spread);
    cost::MemoryLevel& l1 = device_.levels[0];
    l1.read = device_.loads * static_cast<double>(device_.core.vector_bytes);
    l1.write = device_.stores * static_cast<double>(device_.core.vector_bytes);
  }

  // The time that one kind of instruction adds to known ones.
  void rates(ElementType type) {
    // Cells that are not neighbours; a transposition would load registers and exchange their lanes.
    learn(type, Instruction::gather,
          trial(fmt::format("program p(X: {0}[512, 8]) -> (Y: {0}[512]) {{ Y[i] = X[i, 3] + X[i, 5] }}\n",
                            name_of(type))));
    for (const Tile& tile : tiles) learn(type, tile.kind, trial_of(tile, type));
    learn_mixed(type);
    for (const Step& step : steps) {
      const char* form = is_float(type) ? step.floats : step.integers;
      if (!form) continue;
      const bool wide = size_of(type) == 8;
      std::string chain = "X[i]";
      for (int k = 0; k < step.times; ++k) chain = with(form, "{x}", chain);
      chain = with(with(chain, "{f}", wide ? "f64" : "f32"), "{i}", wide ? "i64" : "i32");
      chain = with(chain, "{w}", "W[i]");
      const TrialResult result =
          trial(fmt::format("program p(X: {0}[{1}], W: {0}[{1}]) -> (Y: {0}[{1}]) {{ Y[i] = {2} }}\n", name_of(type),
                            wide ? 1024 : 2048, chain));
      learn(type, step.kind, result);
    }
    if (is_float(type)) return;
    for (ElementType narrow : {ElementType::i16, ElementType::i8, ElementType::u8, ElementType::boolean})
      if (type == ElementType::i32)
        for (std::size_t k = 0; k < cost::instruction_count; ++k) {
          const auto kind = static_cast<Instruction>(k);
          device_.rates.of(narrow, kind) = device_.rates.of(type, kind) * 4 / static_cast<double>(size_of(narrow));
          mixed_of(narrow) = mixed_of(type) * 4 / static_cast<double>(size_of(narrow));
        }
  }
  double& mixed_of(ElementType type) { return device_.mixed[static_cast<std::size_t>(type)]; }
  TrialResult trial_of(const Tile& tile, ElementType type) {
    // A multiple of usual tiles' rows.
    return trial(fmt::format("program p(A: {0}[154, 256], B: {0}[256, 64]) -> (C: {0}[154, 64]) {{ C[i, j] = {1} }}\n",
                             name_of(type), is_float(type) ? tile.floats : tile.integers),
                 0.1);
  }
  // Between the rate on shared units and the sum of the rates of both.
  void learn_mixed(ElementType type) {
    const TrialResult result = trial_of(mixed, type);
    double elements = 0;
    for (std::size_t k = 0; k < result.kernels.size(); ++k) {
      const cost::KernelWork work = cost::work_of(result.kernels[k], result.boxes[k], device_);
      for (Instruction kind : {Instruction::arithmetic, Instruction::add})
        elements += work.instructions.of(type, kind) * static_cast<double>(device_.core.vector_bytes) /
                    static_cast<double>(size_of(type));
    }
    mixed_of(type) =
        std::clamp(elements / std::max(result.least - beginning(), 1e-9), cost::shared_rate(device_, type),
                   device_.rates.of(type, Instruction::arithmetic) + device_.rates.of(type, Instruction::add));
    note(fmt::format("rates.{}.{}", name_of(type), mixed_key), mixed_of(type), result.spread);
  }
  void learn(ElementType type, Instruction kind, const TrialResult& result) {
    double known = 0, count = 0;
    for (std::size_t k = 0; k < result.kernels.size(); ++k) {
      const cost::KernelWork work = cost::work_of(result.kernels[k], result.boxes[k], device_);
      for (std::size_t t = 0; t < element_type_count; ++t)
        for (std::size_t i = 0; i < cost::instruction_count; ++i) {
          const auto other = static_cast<ElementType>(t);
          const auto which = static_cast<Instruction>(i);
          const double elements = work.instructions.by_type[t][i] * static_cast<double>(device_.core.vector_bytes) /
                                  static_cast<double>(size_of(compute_type(other)));
          const bool same = which == kind &&
                            (other == type || kind == Instruction::convert || kind == Instruction::compare);
          if (same) count += elements;
          else known += elements / device_.rates.by_type[t][i];
        }
    }
    if (count == 0) return;
    const double seconds = result.least - beginning();
    // At least a tenth of the time is the instruction's own, however much others overlap with it.
    double& rate = device_.rates.of(type, kind);
    rate = count / std::max(seconds - known, seconds / 10);
    note(fmt::format("rates.{}.{}", name_of(type), cost::instructions[static_cast<std::size_t>(kind)].name), rate,
         result.spread);
  }
  void same_as(ElementType type, ElementType other) {
    device_.rates.by_type[static_cast<std::size_t>(type)] = device_.rates.by_type[static_cast<std::size_t>(other)];
    mixed_of(type) = mixed_of(other);
  }

  // A size that fits into the level and not into the previous one. For memory, several times the last cache, as far as
  // memory allows.
  double bytes_for(std::size_t level) const {
    const bool memory = level + 1 == device_.levels.size();
    const double before = device_.levels[level - 1].bytes;
    if (memory) return std::min({std::max(8 * before, 256e6), 1e9, device_.memory_bytes / 8});
    return std::min(device_.levels[level].bytes / 2, 8 * before);
  }
  struct Streams {
    double read = 0, write = 0, spread = 0;
  };
  // By the model's own terms: a stream takes the time of its bytes, plus the part of computing that this does not hide.
  Streams streams(std::size_t level, std::size_t threads) {
    const double bytes = std::floor(bytes_for(level) / 65536) * 65536;
    const double seconds = bytes > 32e6 ? 1 : 0.1;
    const TrialResult sum =
        trial(fmt::format("program p(X: f32[64, {0}]) -> (y: f32[64]) {{ y[i] = sum[j] X[i, j] }}\n", bytes / 4 / 64),
              seconds, threads);
    const TrialResult copy = trial(
        fmt::format("program p(X: f32[64, {0}]) -> (Y: f32[64, {0}]) {{ Y[i, j] = X[i, j] * 0.5 }}\n", bytes / 8 / 64),
        seconds, threads);
    const double registers = bytes / static_cast<double>(device_.core.vector_bytes), all = static_cast<double>(threads);
    auto of_bytes = [&](double measured, double core) {
      const double time = std::max(measured - beginning(), 1e-9);
      return std::max(time - (1 - device_.overlap) * core / all, time / 2);
    };
    const double reading = of_bytes(sum.least, registers / device_.loads);
    const double both = of_bytes(copy.least, registers / 2 / device_.stores);
    Streams found;
    found.read = bytes / reading;
    found.write = bytes / 2 / std::max(both - bytes / 2 / found.read, both / 10);
    found.spread = std::max(sum.spread, copy.spread);
    return found;
  }
  void bandwidth(std::size_t number, std::size_t threads) {
    cost::MemoryLevel& level = device_.levels[number];
    const Streams found = streams(number, threads);
    level.read = found.read;
    level.write = found.write;
    level.read_shared = found.read * static_cast<double>(device_.threads);
    level.write_shared = found.write * static_cast<double>(device_.threads);
    note("read." + level.name, found.read, found.spread);
    note("write." + level.name, found.write, found.spread);
  }

  // With all threads: the remaining fraction of their rates, the shared memory bandwidth, and the time to wake them.
  void together() {
    const auto threads = static_cast<std::size_t>(device_.threads);
    const double all = static_cast<double>(threads);
    std::string chain = "X[i, j]";
    for (int k = 0; k < 4; ++k) chain = with(chain_of_products, "{x}", chain);
    const std::string text =
        fmt::format("program p(X: f32[256, 1024], W: f32[1024]) -> (Y: f32[256]) {{ Y[i] = sum[j] {} }}\n",
                    with(chain, "{w}", "W[j]"));
    const TrialResult alone = trial(text, 0.2), busy = trial(text, 0.3, threads);
    device_.scaling = std::clamp(alone.least / busy.least / all, 0.01, 1.0);
    note("scaling", device_.scaling, std::max(alone.spread, busy.spread));
    for (std::size_t level = device_.levels.size() - 2; level < device_.levels.size(); ++level) {
      const Streams found = streams(level, threads);
      cost::MemoryLevel& shared = device_.levels[level];
      shared.read_shared = std::max(found.read, shared.read);
      shared.write_shared = std::max(found.write, shared.write);
      note("read_all." + shared.name, shared.read_shared, found.spread);
      note("write_all." + shared.name, shared.write_shared, found.spread);
    }
    // Of each trip, the first part is done by one thread, until the others are awake (cost/model/model.cpp).
    const std::string often =
        "program p(X: f32[128, 512]) -> (Y: f32[128, 512]) { Y = iterate 200 (u = X) { v[i, j] = u[i, j] * 0.5\n v } "
        "}\n";
    const TrialResult one = trial(often, 0.1), shared = trial(often, 0.2, threads);
    device_.wake = std::max((shared.least - one.least / all) / 200 / (1 - 1 / all), 0.0);
    note("wake", device_.wake, shared.spread);
  }

  Session& session_;
  Device device_;
  std::vector<std::int32_t> pinned_to_;  // where all threads run
  std::vector<Measured> measured_;
};

}  // namespace

Calibration calibrate(Session& session, const Device& known, bool has_chosen) {
  return Calibrator(session, known, has_chosen).run();
}

}  // namespace tap::driver
