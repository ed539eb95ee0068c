#include "compiler/driver/show/why_sharded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "compiler/driver/show/sharding_report.h"
#include "compiler/driver/work.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "support/byte_size.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using ir::GraphId;
using ir::Sharding;
using ir::ValueId;

// Follows the origins of one axis of a value back to an annotation.
class Reasons {
 public:
  Reasons(const passes::Propagated& found, const ShardingReasons& names)
      : found_(found), program_(found.program), names_(names) {}

  std::string of(GraphId graph, ValueId value, std::uint32_t dim, const ir::AxisRef& axis) {
    std::vector<std::string> chain;
    while (const passes::Origin* origin = chain.size() < found_.origins.size() ? origin_of(graph, value, dim, axis)
                                                                               : nullptr) {
      std::string by = origin->operation ? "through the operation that writes " + written_by(graph, *origin->operation)
                                         : std::string("which must have the same sharding");
      if (origin->operation) by += names_.at(names_.location(graph, *origin->operation));
      if (!origin->from) {
        chain.push_back(fmt::format("{} gets it {}", name(graph, value), by));
        return chain_text(chain);
      }
      chain.push_back(fmt::format("{} gets it from {}, {}", name(graph, value),
                                  name(origin->from->first, origin->from->second), by));
      std::tie(graph, value) = *origin->from;
      dim = any_dim;
    }
    chain.push_back(
        fmt::format("{} is annotated with it{}", name(graph, value), names_.at(names_.annotation({graph, value}))));
    return chain_text(chain);
  }

 private:
  static constexpr std::uint32_t any_dim = ~0u;
  static constexpr std::size_t shown = 8;  // steps shown at the start of a long chain; the last one is always shown

  static std::string chain_text(const std::vector<std::string>& chain) {
    std::string text;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      if (k < shown || k + 1 == chain.size()) text += "    " + chain[k] + "\n";
      else if (k == shown) text += fmt::format("    … {} more\n", plural(chain.size() - shown - 1, "step"));
    }
    return text;
  }

  const passes::Origin* origin_of(GraphId graph, ValueId value, std::uint32_t dim, const ir::AxisRef& axis) const {
    for (const passes::Origin* origin : names_.origins({graph, value})) {
      if (dim != any_dim && origin->dim != dim) continue;
      const auto& sharding = program_[graph][value].sharding;
      if (sharding && overlap(program_[sharding->mesh], origin->axis, axis)) return origin;
    }
    return nullptr;
  }
  std::string name(GraphId graph, ValueId value) const { return "`" + program_[graph][value].name + "`"; }
  std::string written_by(GraphId graph, ir::OperationId operation) const {
    const ir::Operation& written = program_[graph][operation];
    return written.results.empty() ? "nothing" : name(graph, written.results[0]);
  }

  const passes::Propagated& found_;
  const ir::Program& program_;
  const ShardingReasons& names_;
};

// Shardings that reached an input or a result of the program and were reduced at the end.
std::string dropped_sharding_lines(const ShardingReasons& reasons, const passes::Propagated& found, GraphId graph,
                                   ValueId value) {
  const Sharding& sharding = *found.program[graph][value].sharding;
  const ir::Mesh& mesh = found.program[sharding.mesh];
  std::vector<std::string> lines;
  for (const passes::Origin* from : reasons.origins({graph, value})) {
    const passes::Origin& origin = *from;
    const ir::Axes& kept = sharding.dims[origin.dim].axes;
    if (std::any_of(kept.begin(), kept.end(), [&](const ir::AxisRef& a) { return overlap(mesh, a, origin.axis); }))
      continue;
    std::string line = fmt::format(
        "  axis {} could also be sharded by {}, but inferred shardings of program inputs and results must divide "
        "evenly, by whole axes\n",
        origin.dim, to_string(mesh, origin.axis));
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string axis_lines(Reasons& reasons, const ir::Program& program, GraphId graph, ValueId value) {
  const ir::Value& about = program[graph][value];
  const ir::Mesh& mesh = program[about.sharding->mesh];
  double local = bytes_of(on_a_device(program, about));
  std::string text;
  for (std::uint32_t d = 0; d < about.sharding->dims.size(); ++d)
    for (const ir::AxisRef& axis : about.sharding->dims[d].axes) {
      Sharding without_it = *about.sharding;
      std::erase(without_it.dims[d].axes, axis);
      ir::Value other{about.name, about.type, false, without_it};
      text += fmt::format("  axis {} is sharded by {}; without it, a device would hold {} more\n", d,
                          to_string(mesh, axis), byte_size(bytes_of(on_a_device(program, other)) - local));
      text += reasons.of(graph, value, d, axis);
    }
  if (text.empty()) return "  not sharded: every device holds all of it\n";
  return text + fmt::format("  if replicated, each of {} would hold {}\n",
                            plural(static_cast<std::uint64_t>(device_count(mesh)), "device"),
                            byte_size(bytes_of(about.type)));
}

std::string causes_text(const ShardingReasons& names, const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& cause : causes) text += "    " + cause.text + names.at(cause.span) + "\n";
  return text;
}

// The mesh axes that do not shard the value, and the dims that lost one.
std::string blocked_lines(const ShardingReasons& names, const ir::Program& program, const std::string& value,
                          const std::vector<AxisReason>& reasons) {
  std::string text;
  for (const AxisReason& reason : reasons) {
    const ir::Mesh& mesh = program[reason.mesh];
    const std::string axis = (program.meshes.size() > 1 ? mesh.name + "." : "") + mesh[reason.axis].name;
    if (!reason.lost.empty())
      text += fmt::format("  {} shards no other axis of it\n", axis) + causes_text(names, reason.lost);
    if (reason.state == AxisState::unrelated)
      text += fmt::format("  {} does not shard it, nor any value that is computed from it or with it\n", axis);
    if (reason.state == AxisState::blocked && reason.source != value)
      text += fmt::format("  {} does not shard it, but shards axis {} of `{}`{}\n", axis, reason.source_dim,
                          reason.source, names.at(reason.span)) +
              causes_text(names, reason.causes);
    else if (reason.state == AxisState::blocked)
      text += fmt::format("  {} does not shard it\n", axis) + causes_text(names, reason.causes);
  }
  return text;
}

}  // namespace

std::string why_sharded(ShardingReasons& reasons, const passes::Propagated& found, GraphId graph, ValueId id) {
  const ir::Program& program = found.program;
  const ir::Value& value = program[graph][id];
  const std::string blocked = blocked_lines(reasons, program, reasons.name({graph, id}), reasons.of(graph, id));
  std::string text = fmt::format("{}: {}{}\n", reasons.name({graph, id}), to_string(value.type),
                                 value.sharding ? " @ " + to_string(program.meshes, *value.sharding) : ", not sharded");
  if (!value.sharding)
    return text +
           fmt::format("  no annotated sharding propagates to it: every device holds {}\n",
                       byte_size(bytes_of(value.type))) +
           blocked;
  ir::TensorType local = on_a_device(program, value);
  text += fmt::format("  a device holds {} of it, {} of {}\n", to_string(local), byte_size(bytes_of(local)),
                      byte_size(bytes_of(value.type)));
  Reasons chains(found, reasons);
  return text + axis_lines(chains, program, graph, id) + dropped_sharding_lines(reasons, found, graph, id) + blocked;
}

}  // namespace tap::driver
