// Makes every operation use one list of axes per factor: the reshards of its operands, the sharding of its results as
// computed, and the axes along which it produces partials.
//
//   x @ m[{}, {a}]   w @ m[{a}, {}]   y[i, o] = sum[k] x[i, k] * w[k, o] @ m[{a}, {}]
//   k: {a}           y as computed: m[{}, {}; unreduced {a} by sum]; a reduce-scatter gives the declared sharding
//
// Post: the tensors of an operation agree on every factor, so that a device with its boxes of the operands can
// compute its box of the results (except for windows, which also read beyond the edges of their blocks).
#pragma once

#include "passes/shardings/collectives.h"
#include "passes/shardings/factor_axes.h"
#include "passes/shardings/sites.h"

namespace tap::passes {

struct SiteShardings {
  Site site;
  bool copy = false;                        // it only gives a value another sharding: `Y = X`
  ir::MeshId mesh = {};                     // none of the tensors has a sharding: invalid, and nothing else is there
  std::vector<ir::Axes> factors = {};       // by factor
  std::vector<ir::Sharding> operands = {};  // as the operation needs them
  std::vector<ir::Sharding> results = {};   // as it computes them; partials are unreduced
};

// Sites in the order of the graph, copies that only give a value another sharding (`Y = X`) among them: they follow what
// they copy, and the result is resharded.
std::vector<SiteShardings> explicit_shardings(const ir::Program& program, const ir::Graph& graph);

// The sharding that an operand has where the site reads it, by this use or by its value.
std::optional<ir::Sharding> sharding_of_use(const ir::Graph& graph, const Site& site, std::size_t operand);

// A move that some site needs: of an operand before it, or of a result behind it.
struct Reshard {
  std::size_t site = 0;
  bool of_result = false;
  std::size_t tensor = 0;  // the site's operand or result
  ir::Sharding from, to;
  std::vector<Collective> steps;
  bool asked = false;  // the author gave a copy another sharding; else it is what an operation takes
};
// The moves that are not nothing, in order.
std::vector<Reshard> reshards(const ir::Program& program, const ir::Graph& graph,
                              const std::vector<SiteShardings>& sites);

}  // namespace tap::passes
