// Nested regions: no graph contains itself, and a counter belongs to an enclosing iterate.
#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

struct Use {
  std::size_t graph;  // the inner one
  RegionBody region;
};

// The enclosing iterates of a graph, over all its uses: by level, the trips that an iterate may have. A graph that is
// used at two depths has the smaller one.
using Trips = std::set<std::pair<std::int64_t, std::int64_t>>;
struct Enclosing {
  bool reached = false;
  std::vector<Trips> trips;  // [0] is the innermost
};

class Nesting {
 public:
  Nesting(Violations& out, const Program& program)
      : out_(out),
        program_(program),
        uses_(program.graphs.size()),
        used_(program.graphs.size(), 0),
        enclosing_(program.graphs.size()) {}

  void run() {
    for (std::size_t g = 0; g < program_.graphs.size(); ++g)
      for (OperatorId op : operators_of(program_.graphs[g]))
        if (auto* region = program_[op].region()) {
          uses_[g].push_back({region->graph.index(), *region});
          for (const Alternative& a : region->alternatives) uses_[g].push_back({a.graph.index(), *region});
        }
    for (const std::vector<Use>& uses : uses_)
      for (const Use& use : uses) ++used_[use.graph];
    // No iterate encloses the main graph, even if another graph uses it.
    if (program_.main.index() < enclosing_.size()) enclosing_[program_.main.index()].reached = true;
    // Outer graphs first, as their numbers of uses reach zero.
    std::vector<std::size_t> ready;
    for (std::size_t g = 0; g < used_.size(); ++g)
      if (used_[g] == 0) ready.push_back(g);
    std::size_t seen = 0;
    for (; !ready.empty(); ++seen) {
      std::size_t g = ready.back();
      ready.pop_back();
      counters(g);
      for (const Use& use : uses_[g]) {
        enclose(enclosing_[use.graph], enclosing_[g], use.region);
        if (--used_[use.graph] == 0) ready.push_back(use.graph);
      }
    }
    out_.expect(seen == used_.size(), "a graph contains itself, by its regions");
  }

 private:
  static std::vector<OperatorId> operators_of(const Graph& graph) {
    std::vector<OperatorId> ops;
    for (const Operation& operation : graph.operations) ops.push_back(operation.op);
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return ops;
  }

  static void enclose(Enclosing& inner, Enclosing outer, const RegionBody& region) {
    if (region.kind == RegionKind::iterate)
      outer.trips.insert(outer.trips.begin(), Trips{{std::pair{region.trips.lo, region.trips.hi}}});
    if (!inner.reached) {
      inner = std::move(outer);
      inner.reached = true;
      return;
    }
    inner.trips.resize(std::min(inner.trips.size(), outer.trips.size()));
    for (std::size_t level = 0; level < inner.trips.size(); ++level)
      inner.trips[level].insert(outer.trips[level].begin(), outer.trips[level].end());
  }

  void counters(std::size_t g) {
    const auto& trips = enclosing_[g].trips;
    for (OperatorId id : operators_of(program_.graphs[g])) {
      const Operator& op = program_[id];
      for (const IndexDim& dim : op.dims) {
        if (dim.role != DimRole::counter) continue;
        Violations::Scope at(out_, "graph {} ({}): operator {} ({})", g, program_.graphs[g].name, id.index(), op.name);
        if (!out_.expect(dim.level < trips.size(), "the counter {} has level {} inside {} iterates", dim.name,
                         dim.level, trips.size()))
          continue;
        for (auto [lo, hi] : trips[dim.level])
          out_.expect(dim.range == Range{lo, hi}, "the counter {} runs over {}, but its iterate over {}", dim.name,
                      to_string(dim.range), to_string(Range{lo, hi}));
      }
    }
  }

  Violations& out_;
  const Program& program_;
  std::vector<std::vector<Use>> uses_;  // by the outer graph
  std::vector<std::size_t> used_;       // how many uses are not yet seen
  std::vector<Enclosing> enclosing_;
};

}  // namespace

void verify_nesting(Violations& out, const Program& program) { Nesting(out, program).run(); }

}  // namespace tap::ir::verifying
