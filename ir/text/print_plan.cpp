// A plan as text, and the names in it: `split H dim k into 4 over threads`.
#include <fmt/format.h>

#include <charconv>

#include "ir/shardings/device_assignment.h"
#include "ir/text/plan_text.h"
#include "ir/text/text_tables.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

std::string names(const std::vector<std::string>& list) {
  std::vector<std::string> written;
  for (const std::string& name : list) written.push_back(plan_name(name));
  return joined(written);
}

std::string text(const PlannedChoice& choice) {
  return fmt::format("choose {} {}", plan_name(choice.operation), choice.alternative);
}
std::string placement_text(const PlannedSplit& split) {
  std::string out(words::text_of(words::placements, split.placement));
  bool bare = split.mesh.empty() && split.axis && is_identifier(split.axis->name);
  if (bare) out += " " + to_string(*split.axis);
  else if (split.axis) out += fmt::format(" {}.{}", written_name(split.mesh), to_string(*split.axis));
  return split.devices.empty() ? out : out + " " + to_string(split.devices);
}
std::string text(const PlannedSplit& split) {
  if (split.all_at) {
    std::string number = split.axis || split.devices.size() > 1 ? fmt::format(" at {}", *split.all_at) : "";
    return fmt::format("place {}{} over {}", plan_name(split.operation), number, placement_text(split));
  }
  std::string dim = axis_of_dim(split.dim) ? "on " + split.dim : "dim " + plan_name(split.dim);
  std::string out = fmt::format("split {} {} into {} over {}", plan_name(split.operation), dim, to_string(split.blocks),
                                placement_text(split));
  if (split.tree) out += fmt::format(" tree {}", *split.tree);
  return out;
}
std::string text(const PlannedFusion& fusion) {
  std::string out = "fuse " + names(fusion.operations);
  return fusion.dims.empty() ? out : out + " over " + names(fusion.dims);
}
std::string text(const PlannedUnroll& unroll) {
  return fmt::format("unroll {} {}", plan_name(unroll.operation), unroll.steps);
}

std::string mesh_text(const Mesh& mesh) {
  std::vector<std::string> axes;
  for (const MeshAxis& axis : mesh.axes) axes.push_back(fmt::format("{}: {}", written_name(axis.name), axis.size));
  return fmt::format("mesh {} = [{}]", written_name(mesh.name), joined(axes));
}

}  // namespace

std::size_t plain_length(std::string_view text) {
  std::size_t n = text.starts_with('#') ? 1 : 0;
  auto letters = [&] {
    std::size_t begin = n;
    while (n < text.size() && (is_identifier(text.substr(n, 1)) || (text[n] >= '0' && text[n] <= '9'))) ++n;
    return n - begin;
  };
  if (n == 0 && !is_identifier(text.substr(0, 1))) return 0;
  if (letters() == 0) return 0;
  constexpr std::string_view between = "./@#";
  while (n < text.size() && between.find(text[n]) != between.npos) {
    ++n;
    if (letters() == 0) return n - 1;
  }
  return n;
}

bool is_plain_name(std::string_view name) { return !name.empty() && name != "_" && plain_length(name) == name.size(); }

std::string plan_name(const std::string& name) { return is_plain_name(name) ? name : quoted(name); }

std::string invalid_placement(std::string_view word) {
  return fmt::format(
      "`{}` is not a place for blocks; expected threads, sequential, anywhere, devices {{0}}, {{1}}, or a mesh axis "
      "such as pod.data",
      word);
}

std::optional<std::uint32_t> axis_of_dim(std::string_view dim) {
  constexpr std::string_view prefix = "axis ";
  if (!dim.starts_with(prefix)) return std::nullopt;
  dim.remove_prefix(prefix.size());
  std::uint32_t axis = 0;
  auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), axis);
  if (error != std::errc() || fmt::format("{}", axis) != dim || axis > max_planned_axis) return std::nullopt;
  return axis;
}

std::string decision_text(const Decision& decision) {
  return std::visit([](const auto& d) { return text(d); }, decision);
}

std::string print(const Plan& plan) {
  std::string out = "plan 2\n";
  for (const Mesh& mesh : plan.meshes) out += mesh_text(mesh) + "\n";
  for (const Decision& d : plan.decisions) out += decision_text(d) + "\n";
  if (plan.fast_reduce) out += "fast_reduce\n";
  if (plan.evaluations) out += fmt::format("evaluations {}\n", *plan.evaluations);
  return out;
}

}  // namespace tap::ir
