#include "compiler/driver/show/why_moved.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/show/sharding_moves.h"
#include "compiler/driver/show/sharding_reasons.h"
#include "compiler/driver/work.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/mesh_names.h"
#include "passes/shardings/explicit_reshards.h"
#include "passes/shardings/moves.h"
#include "support/byte_size.h"

namespace tap::driver {
namespace {

std::string axes_text(const ir::Mesh& mesh, const ir::Axes& axes) {
  std::vector<std::string> names;
  for (const ir::AxisRef& axis : axes) names.push_back(to_string(mesh, axis));
  return fmt::format("{{{}}}", fmt::join(names, ", "));
}

// One operation that reads or writes the value.
class Explanation {
 public:
  Explanation(const ShardingReasons& names, const ir::Program& program, ir::GraphId graph,
              const passes::SiteShardings& site)
      : names_(names), program_(program), graph_(program[graph]), id_(graph), site_(site) {}

  std::string of(ir::ValueId value, bool result) const {
    const std::vector<ir::ValueId>& list = result ? site_.site.results : site_.site.operands;
    const auto at = static_cast<std::size_t>(std::find(list.begin(), list.end(), value) - list.begin());
    const ir::OperationId operation = site_.site.operations.front();
    const std::string by = fmt::format("the operation that writes `{}`{}", names_.name(id_, operation),
                                       names_.at(names_.location(id_, operation)));
    std::optional<ir::Sharding> own = result ? graph_[value].sharding : passes::sharding_of_use(graph_, site_.site, at);
    const std::string held = own ? to_string(program_.meshes, *own) : "not sharded";
    if (!site_.mesh.valid()) return fmt::format("  no tensor of {} is sharded\n", by);
    const ir::Sharding& here = (result ? site_.results : site_.operands)[at];
    const std::string needed = to_string(program_.meshes, here);
    std::string text = result ? fmt::format("  {} computes it as {}\n", by, needed)
                              : fmt::format("  {} needs it as {}\n", by, needed);
    const std::string name = names_.name({id_, value});
    text += fmt::format("  `{}` is {}{}\n", name, own ? "sharded as " + held : held,
                        names_.at(names_.location({id_, value})));
    return text + factor_lines(result ? site_.site.factors.results[at] : site_.site.factors.operands[at], result);
  }

 private:
  // Why each dim of the operation that concerns the tensor is divided so: the tensors that have these axes.
  std::string factor_lines(const passes::TensorFactors& tensor, bool result) const {
    std::string text;
    for (std::uint32_t f = 0; f < site_.site.factors.factors.size(); ++f) {
      const passes::Factor& factor = site_.site.factors.factors[f];
      const bool partial = result && factor.kind == passes::FactorKind::reduction && !site_.factors[f].empty();
      if (!has_factor(tensor, f) && !partial) continue;
      std::vector<std::string> followed, others;
      each_tensor([&](ir::ValueId value, const passes::TensorFactors& factors, const std::optional<ir::Sharding>& own) {
        if (!has_factor(factors, f) || factors.axes.empty()) return;
        const ir::Mesh& mesh = program_[site_.mesh];
        const passes::TensorAxes axes = passes::axes_by_factor(
            mesh, site_.site.factors, factors, own && program_[own->mesh].axes == mesh.axes ? own : std::nullopt);
        const std::string name =
            fmt::format("`{}` ({})", names_.name({id_, value}), byte_size(bytes_of(graph_[value].type)));
        auto& list = axes.find(f)->axes == site_.factors[f] ? followed : others;
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
      });
      text += fmt::format("    `{}` of the operation is {}", factor.name,
                          site_.factors[f].empty() ? std::string("not divided")
                                                   : "divided by " + axes_text(program_[site_.mesh], site_.factors[f]));
      if (partial) text += ", so the results are partials";
      if (!followed.empty())
        text += fmt::format("; so {} {}", followed.size() == 1 ? "is" : "are", fmt::join(followed, ", "));
      if (!others.empty()) text += fmt::format("; not {}", fmt::join(others, ", "));
      text += "\n";
    }
    return text;
  }

  template <class Visit>
  void each_tensor(Visit visit) const {
    for (std::size_t k = 0; k < site_.site.operands.size(); ++k)
      visit(site_.site.operands[k], site_.site.factors.operands[k], passes::sharding_of_use(graph_, site_.site, k));
    for (std::size_t k = 0; k < site_.site.results.size(); ++k)
      visit(site_.site.results[k], site_.site.factors.results[k], graph_[site_.site.results[k]].sharding);
  }

  const ShardingReasons& names_;
  const ir::Program& program_;
  const ir::Graph& graph_;
  ir::GraphId id_;
  const passes::SiteShardings& site_;
};

std::string moves_text(const ir::Program& program, const passes::ChosenSites& sites, const std::string& value,
                       const std::string& operation, bool result) {
  std::string text;
  double all = 0;
  for (const passes::Move& move : passes::moves_of(program, sites)) {
    if (move.value != value || move.operation != operation || move.reader.empty() != result) continue;
    text += fmt::format(
        "    {}  {}{}\n", move.step,
        move.moved_for.empty() ? bytes_text(move) : fmt::format("moved once, for `{}`, too", move.moved_for),
        move.implicit ? ", implicit" : "");
    all += passes::bytes_of_all({move});
  }
  if (text.empty()) return "  nothing is moved: every device has what it needs\n";
  return fmt::format("  moved, {} per device:\n", byte_size(all)) + text;
}

}  // namespace

std::string why_moved(const ShardingReasons& names, const ir::Program& program, const passes::ChosenSites& sites,
                      const std::string& value, const std::string& reader) {
  const bool result = value == reader;
  for (const auto& [graph, path] : ir::graph_paths(program)) {
    const std::vector<std::string> operations = ir::operation_names(program[graph]);
    const auto of_graph = sites.find(graph);
    if (of_graph == sites.end()) continue;
    for (const passes::SiteShardings& site : of_graph->second) {
      const std::string operation = path + operations[site.site.operations.front().index()];
      const auto writes = [&, id = graph](const std::string& name) {
        return name == operation || std::any_of(site.site.results.begin(), site.site.results.end(), [&](ir::ValueId v) {
                 return names.name({id, v}) == name;
               });
      };
      if (!writes(reader)) continue;
      for (ir::ValueId v : result ? site.site.results : site.site.operands) {
        if (names.name({graph, v}) != value) continue;
        return fmt::format("{}..{}\n", value, reader) + Explanation(names, program, graph, site).of(v, result) +
               moves_text(program, sites, value, operation, result);
      }
    }
  }
  return "";
}

}  // namespace tap::driver
