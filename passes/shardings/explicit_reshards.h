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
  bool copy = false;                        // it only changes a value's sharding: `Y = X`
  ir::MeshId mesh = {};                     // invalid if no tensor has a sharding; the other fields are then empty
  std::vector<ir::Axes> factors = {};       // by factor
  std::vector<ir::Sharding> operands = {};  // as the operation requires them
  std::vector<ir::Sharding> results = {};   // as it computes them; partials are unreduced
  bool combined_alone =
      false;  // each device combines partials that it does not share with others: a plan without slices
};

// Sites in the order of the graph, including copies that only change a value's sharding (`Y = X`): they follow their
// operand, and their result is resharded.
std::vector<SiteShardings> explicit_shardings(const ir::Program& program, const ir::Graph& graph);

// A site with these axes of its factors, whatever shardings its tensors have.
SiteShardings site_with_axes(const ir::Program& program, const ir::Graph& graph, Site site, ir::MeshId mesh,
                             std::vector<ir::Axes> factors);

// The axes along which it has partials, in the order in which they divide reduced dims.
ir::Axes axes_of_partials(const SiteShardings& site);

// The sharding of an operand at this site: that of the use, else that of the value.
std::optional<ir::Sharding> sharding_of_use(const ir::Graph& graph, const Site& site, std::size_t operand);

// A reshard at a site: of an operand before it, or of a result after it.
struct Reshard {
  std::size_t site = 0;
  bool of_result = false;
  std::size_t tensor = 0;  // the site's operand or result
  ir::Sharding from, to;
  std::vector<Collective> steps;
  bool is_explicit = false;  // explicit: the author gave a copy a different sharding; else the operation forces it
};
// The reshards that change something, in order.
std::vector<Reshard> reshards(const ir::Program& program, const ir::Graph& graph,
                              const std::vector<SiteShardings>& sites);

}  // namespace tap::passes
