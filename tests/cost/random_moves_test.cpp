// Random programs of few operations, and random lines that divide them: what reports and the search say that the busiest device
// receives, and what it does receive in the expanded program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cost/model/traffic.h"
#include "cost/search/sharding_search.h"
#include "ir/text/plan_text.h"
#include "passes/shardings/moves.h"
#include "passes/shardings/planned_shardings.h"
#include "passes/splits/divided_inputs.h"
#include "passes/splits/expand.h"
#include "passes/splits/realise.h"
#include "tests/ir/parse_plan.h"
#include "tests/passes/lowered.h"

namespace tap::cost {
namespace {

struct Drawn {
  std::string text, lines;
  bool is_complete;  // each operation is divided: the search leaves none as it is
};

class Drawing {
 public:
  explicit Drawing(unsigned seed) : random_(seed) {}

  Drawn draw() {
    const bool two_axes = pick(2) == 0;
    axes_ = two_axes ? std::vector<std::pair<std::string, int>>{{"x", 2}, {"y", 2}}
                     : std::vector<std::pair<std::string, int>>{{"x", pick(2) == 0 ? 2 : 4}};
    const int count = 2 + pick(3);
    for (int k = 0; k < count; ++k) add_operation(fmt::format("v{}", k));
    std::string mesh, results;
    for (const auto& [name, size] : axes_) mesh += fmt::format("{}{}: {}", mesh.empty() ? "" : ", ", name, size);
    for (const std::string& value : values_)
      if (value[0] == 'v') results += fmt::format("{}{}: i64[16, 16]", results.empty() ? "" : ", ", value);
    return {fmt::format("mesh m = [{}]\nprogram p(a: i64[16, 16], b: i64[16, 16]) -> ({}) {{\n{}}}\n", mesh, results,
                        text_),
            lines_, is_complete_};
  }

 private:
  int pick(int of) { return static_cast<int>(random_() % static_cast<unsigned>(of)); }
  const std::string& value() {
    return values_[values_.size() - 1 - static_cast<std::size_t>(pick(3)) % values_.size()];
  }

  void add_operation(const std::string& name) {
    const std::string v = value(), w = value();
    const std::string over = " for i in 0..16, j in 0..16";
    switch (pick(12)) {
      case 0: add(name, fmt::format("{}[i, j] * 2", v)); break;
      case 1: add(name, fmt::format("{}[i, j] + {}[j, i]", v, w)); break;
      case 2: add(name, fmt::format("{}[15 - i, j] + {}[i, j]", v, w) + over); break;
      case 3: add(name, fmt::format("{}[i - {}, j else 0] + {}[i, j + 1 else 0]", v, 1 + pick(9), w) + over); break;
      case 4: add(name, fmt::format("{}[{}, j] + {}[i, j]", v, pick(16), w) + over); break;
      case 5: add(name, fmt::format("sum[k] {}[i, k] * {}[k, j]", v, w)); break;
      case 6: add(name, fmt::format("sum[k in 0..i{}] {}[k, j]", pick(2) == 0 ? "" : " + 1", v) + over); break;
      case 7: add(name, fmt::format("max[k in j..16] {}[i, k]", v) + over); break;
      case 8: add(name, fmt::format("sum[k in 0..8] {}[i, k + {}] * {}[k, j]", v, pick(9), w) + over); break;
      case 9: add(name, fmt::format("{}[i, {}] * {}[i, j]", v, pick(16), w) + over); break;
      case 10: add_writers(name, v, w); break;
      default: add_iterate(name, v, w);
    }
  }
  void add(const std::string& name, const std::string& cell) {
    text_ += fmt::format("  {}[i, j] = {}\n", name, cell);
    divide(name);
    values_.push_back(name);
  }
  void add_writers(const std::string& name, const std::string& v, const std::string& w) {
    text_ += fmt::format(
        "  {0}[i, j] = {1}[i, j] for i in 0..8, j in 0..16\n  {0}[8 + i, j] = {2}[i, j] for i in 0..8, j in 0..16\n",
        name, v, w);
    const std::string before = lines_;
    divide(name + "@0", 1);
    std::string own = lines_.substr(before.size());
    for (std::size_t at = own.find("@0"); at != std::string::npos; at = own.find("@0", at)) own[at + 1] = '1';
    lines_ += own;
    values_.push_back(name);
  }
  void add_iterate(const std::string& name, const std::string& v, const std::string& w) {
    text_ += fmt::format("  {} = iterate {} (u = {}) {{\n    t[i, j] = u[i, j]{} + {}[i, j]\n    t }}\n", name,
                         2 + pick(3), v, pick(2) == 0 ? "" : " * u[i - 1, j else 0]", w);
    divide(name + "/t");
    values_.push_back(name);
  }
  // Lines are in the order in which the search writes them: by dim. The first one decides whether a scan is divided along its
  // running dim.
  void divide(const std::string& name, std::size_t most_axes = 2) {
    const std::string before = lines_;
    std::string of_i, of_j;
    for (std::size_t k = 0; k < std::min(axes_.size(), most_axes); ++k)
      if (pick(6) > 0) {
        const bool is_i = pick(2) == 0;
        (is_i ? of_i : of_j) +=
            fmt::format("split {} dim {} into {} over m.{}\n", name, is_i ? "i" : "j", axes_[k].second, axes_[k].first);
      }
    lines_ += of_i + of_j;
    is_complete_ &= lines_ != before;
  }

  std::mt19937 random_;
  std::vector<std::pair<std::string, int>> axes_;
  std::vector<std::string> values_{"a", "b"};
  std::string text_, lines_;
  bool is_complete_ = true;
};

TEST(RandomMoves, ReportsAndPricesAreWhatTheBusiestDeviceReceives) {
  SearchOptions options;
  options.cluster = builtin_cluster(builtin({}, 4));
  int looked_at = 0, priced = 0, found = 0;
  std::string rough;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Drawn drawn = Drawing(seed).draw();
    const ir::Program program = passes::test::lowered(drawn.text);
    const ir::Plan plan = std::get<ir::Plan>(ir::parse_plan("plan 2\n" + drawn.lines));
    const passes::DividedInputs divided = passes::divide_inputs(program, plan);
    const passes::SplitResult split = passes::apply_splits(divided.program, divided.plan);
    if (!split.problems.empty()) continue;
    const double received = traffic_of(passes::expand(passes::realise(split.program).program)).busiest;
    const passes::PlannedShardings planned = passes::shardings_of_plan(program, plan);
    if (!planned.not_shown.empty()) continue;
    const std::vector<passes::Move> moves = passes::moves_of(planned.program, planned.sites, {}, planned.divided);
    ++looked_at;
    std::string list;
    for (const passes::Move& move : moves)
      list += fmt::format("{}: {}, {} bytes {} times\n", move.what, move.step, move.bytes, move.times);
    // What several writers read alike is moved once, but listed for each.
    if (drawn.text.find("8 + i") != std::string::npos) EXPECT_GE(bytes_of_all(moves), received);
    else EXPECT_EQ(bytes_of_all(moves), received) << "seed " << seed << "\n" << drawn.text << drawn.lines << list;
    if (!drawn.is_complete) continue;
    options.kept = plan;
    const FoundFront front = search(program, ir::MeshId(0), options);
    if (front.plans.empty() || !front.problems.empty()) continue;
    ++found;
    const double price = front.plans[0].predicted.traffic;
    if (price == received) ++priced;
    else rough += fmt::format("seed {}: {} for {}\n{}{}\n", seed, price, received, drawn.text, drawn.lines);
  }
  EXPECT_GT(looked_at, 200);
  EXPECT_GE(priced, found * 85 / 100) << priced << " of " << found << "\n" << rough;
}

}  // namespace
}  // namespace tap::cost
