#include "tests/conformance_driver/simulate_sites.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "ir/text_names.h"

namespace tap::passes {

using namespace ir;

namespace {

std::string text_of(const Mesh& mesh, const Axes& axes) {
  std::vector<std::string> parts;
  for (const AxisRef& axis : axes) parts.push_back(to_string(mesh, axis));
  return "{" + ir::joined(parts) + "}";
}

// Of the cells of one dim, what the device at this place holds.
Range block_at(const Mesh& mesh, const Axes& axes, std::int64_t size, std::int64_t index) {
  return box_at(mesh, {MeshId(), {{axes}}}, {size}, index).dims[0];
}

class SiteCheck {
 public:
  SiteCheck(const Program& program, const Graph& graph, const SiteShardings& site)
      : program_(program), graph_(graph), site_(site), mesh_(program[site.mesh]) {}

  std::vector<std::string> failures() {
    for (std::size_t f = 0; f < site_.factors.size(); ++f) {
      if (site_.site.factors.factors[f].kind == FactorKind::need_replication && !site_.factors[f].empty())
        failures_.push_back(fmt::format("{} must not be cut", site_.site.factors.factors[f].name));
      for (std::size_t g = 0; g < f; ++g)
        if (overlap(mesh_, site_.factors[f], site_.factors[g]))
          failures_.push_back(fmt::format("{} and {} are cut by one axis", text_of(mesh_, site_.factors[g]),
                                          text_of(mesh_, site_.factors[f])));
    }
    if (site_.site.operations.size() != 1) return std::move(failures_);
    for (std::int64_t index = 0; index < device_count(mesh_) && failures_.empty(); ++index) check(index);
    return std::move(failures_);
  }

 private:
  const Factor& factor(std::uint32_t f) const { return site_.site.factors.factors[f]; }

  // Cells beyond the edges of blocks come from neighbours.
  bool crosses_edges(const AxisFactors& axis) const {
    return std::any_of(axis.factors.begin(), axis.factors.end(), [&](std::uint32_t f) {
      return factor(f).kind == FactorKind::permutation && !site_.factors[f].empty();
    });
  }

  void check(std::int64_t index) {
    const Operator& op = program_[graph_[site_.site.operations[0]].op];
    Box points = op.box();
    for (std::uint32_t f = 0; f < site_.factors.size(); ++f)
      if (factor(f).dim) {
        Range& range = points.dims[*factor(f).dim];
        Range block = block_at(mesh_, site_.factors[f], range.size(), index);
        range = {range.lo + block.lo, range.lo + block.hi};
      }
    if (points.empty()) return;
    for (const Access& read : op.reads) compare(op, read, points, index, false);
    for (const Access& write : op.writes) compare(op, write, points, index, true);
  }

  void compare(const Operator& op, const Access& access, const Box& points, std::int64_t index, bool write) {
    const auto& tensors = write ? site_.site.factors.results : site_.site.factors.operands;
    const Shape& shape = (write ? op.results : op.operands)[access.tensor].shape;
    Box touched = intersect(access.projection.bounds(points), Box::of_shape(shape));
    std::string why;
    for (std::size_t k = 0; k < tensors.size(); ++k) {
      if (tensors[k].tensor != access.tensor) continue;
      Box held = box_at(mesh_, (write ? site_.results : site_.operands)[k], shape, index);
      bool enough = true;
      for (std::size_t a = 0; a < shape.size(); ++a)
        if (!crosses_edges(tensors[k].axes[a]))
          enough &= write ? touched.dims[a].contains(held.dims[a]) : held.dims[a].contains(touched.dims[a]);
      if (enough) return;
      why = fmt::format("device {} holds {} of {} {} and touches {}", device_at(mesh_, index), to_string(held),
                        write ? "result" : "operand", access.tensor, to_string(touched));
    }
    if (!why.empty()) failures_.push_back(why);
  }

  const Program& program_;
  const Graph& graph_;
  const SiteShardings& site_;
  const Mesh& mesh_;
  std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> faults_of(const Program& program, GraphId graph, const SiteShardings& site) {
  if (!site.mesh.valid()) return {};
  return SiteCheck(program, program[graph], site).failures();
}

}  // namespace tap::passes
