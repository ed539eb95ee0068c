#include "compiler/driver/sharding_moves.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/operation_names.h"
#include "passes/explicit_reshards.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

using passes::Collective;
using passes::CollectiveKind;
using passes::Reshard;

struct Move {
  std::string what;  // X for Y
  std::string step;
  std::int64_t bytes = 0;
  bool implicit = false;
};

bool moves_for_others(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all ||
         kind == CollectiveKind::collective_permute || kind == CollectiveKind::copy;
}

void add_moves(const ir::Graph& graph, const std::string& path, const std::vector<std::string>& names,
               const std::vector<passes::SiteShardings>& sites, const Reshard& reshard, std::vector<Move>& list) {
  const passes::Site& site = sites[reshard.site].site;
  const ir::Value& value = graph[(reshard.of_result ? site.results : site.operands)[reshard.tensor]];
  std::string what = path + value.name;
  if (!reshard.of_result) what += " for " + names[site.operations.front().index()];
  for (const Collective& step : reshard.steps)
    list.push_back({what, to_string(step), step.moved * static_cast<std::int64_t>(size_of(value.type.element)),
                    !reshard.asked && moves_for_others(step.kind)});
}

std::vector<Move> moves_of(const ir::Program& program) {
  std::vector<Move> list;
  for (const auto& [id, path] : graph_paths(program)) {
    const ir::Graph& graph = program[id];
    std::vector<std::string> names = operation_names(graph);
    auto sites = passes::explicit_shardings(program, graph);
    for (const Reshard& reshard : passes::reshards(program, graph, sites))
      add_moves(graph, path, names, sites, reshard, list);
  }
  return list;
}

std::string bytes_text(std::int64_t bytes) { return plural(static_cast<std::uint64_t>(bytes), "byte"); }

}  // namespace

std::string list_moves(const ir::Program& program) {
  std::vector<Move> moves = moves_of(program);
  std::size_t wide = 0, wider = 0;
  for (const Move& move : moves) {
    wide = std::max(wide, move.what.size());
    wider = std::max(wider, move.step.size());
  }
  std::string text;
  std::int64_t all = 0;
  for (const Move& move : moves) {
    text += fmt::format("{:{}}  {:{}}  {}{}\n", move.what, wide, move.step, wider, bytes_text(move.bytes),
                        move.implicit ? ", implicit" : "");
    all += move.bytes;
  }
  return text + fmt::format("{}{} to a device\n", text.empty() ? "" : "\n", bytes_text(all));
}

std::string first_implicit_move(const ir::Program& program) {
  for (const Move& move : moves_of(program))
    if (move.implicit) return fmt::format("{}: {}, {} to a device", move.what, move.step, bytes_text(move.bytes));
  return "";
}

}  // namespace tap::driver
