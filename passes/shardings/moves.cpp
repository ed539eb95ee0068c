#include "passes/shardings/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/operator_edit.h"
#include "passes/shardings/all_reduces.h"
#include "passes/shardings/explicit_reshards.h"
#include "passes/shardings/halos.h"
#include "passes/splits/split_operator.h"
#include "passes/splits/transfer_space.h"
#include "support/byte_size.h"

namespace tap::passes {
namespace {

bool contains(const std::vector<ir::ValueId>& values, ir::ValueId value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool moves_for_others(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_to_all ||
         kind == CollectiveKind::collective_permute || kind == CollectiveKind::copy;
}

// False for what the compiler named: Y.sum, X#1.
bool is_name(const std::string& text) { return text.find_first_of(".#@ ") == std::string::npos; }

// An input or a result of the program that is split less finely than inside, for example because its size does not
// divide evenly: cells from outside need not be sent.
bool at_the_edge(const ir::Program& program, const ir::Graph& graph, ir::ValueId value, const Reshard& reshard) {
  const std::vector<ir::ValueId>& edge = reshard.of_result ? graph.outputs : graph.inputs;
  const ir::Sharding& outside = reshard.of_result ? reshard.to : reshard.from;
  const ir::Sharding& inside = reshard.of_result ? reshard.from : reshard.to;
  if (std::find(edge.begin(), edge.end(), value) == edge.end() || outside.mesh != inside.mesh) return false;
  const ir::Mesh& mesh = program[outside.mesh];
  for (std::size_t d = 0; d < outside.dims.size(); ++d)
    if (!ir::is_prefix(mesh, outside.dims[d].axes, inside.dims[d].axes)) return false;
  return true;
}

// Of an all-reduce in rounds: what each device of a group has, from the others.
std::int64_t cells_moved(const ir::Program& program, const ir::Graph& graph, const SiteShardings& site,
                         const Collective& step, const Shape& shape, const Caution& caution) {
  if (step.kind != CollectiveKind::all_reduce) return step.moved;
  std::int64_t times = 0;
  for (const ir::AxisRef& axis : step.over) {
    if (site.combined_alone) {
      times += size_of(program[site.mesh], ir::Axes{axis}) - 1;
      continue;
    }
    const Rounds rounds = rounds_of_site(program, graph, site, axis, caution);
    if (rounds.empty()) return step.moved;
    times += messages_of(rounds);
  }
  return times * element_count(ir::local_shape(program[site.mesh], step.before, shape));
}

// As realise() makes it for the site's split operation.
TransferSpace transfer_for(const ir::Program& program, const ir::Graph& graph, const SiteShardings& site,
                           std::size_t use) {
  const auto [reader, operand] = site.site.uses[use];
  ir::Operator op = transfer_of(program[graph[reader].op], operand, graph[graph[reader].operands[operand]].type);
  std::vector<ir::BlockPlacement> placements;
  for (std::size_t f = 0; f < site.factors.size(); ++f) {
    const auto dim = site.site.factors.factors[f].dim;
    for (const ir::AxisRef& axis : dim ? site.factors[f] : ir::Axes{}) {
      const auto block_dim = static_cast<std::uint32_t>(op.dims.size());
      const std::int64_t blocks = size_of(program[site.mesh], ir::Axes{axis});
      op.blockings.push_back({*dim, block_dim, {blocks}});
      add_dim(op, {"", {0, blocks}});
      placements.push_back({block_dim, ir::Placement::mesh_axis, site.mesh, axis});
    }
  }
  return smallest_space(std::move(op), std::move(placements));
}

struct Moved {
  const Reshard* reshard;
  TransferSpace transfer;
};
// Then all devices need the same regions for both operations, which share what is moved.
bool are_alike(const TransferSpace& a, const TransferSpace& b) {
  return a.placements == b.placements && equal_structure(a.op, b.op);
}

void add_moves(const ir::Program& program, const ir::Graph& graph, const std::string& path,
               const std::vector<std::string>& names, const std::vector<SiteShardings>& sites, const Reshard& reshard,
               const std::string& moved_for, const Caution& caution, std::vector<Move>& list) {
  const Site& site = sites[reshard.site].site;
  const ir::ValueId moved = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
  const ir::Value& value = graph[moved];
  const bool is_explicit = reshard.is_explicit || at_the_edge(program, graph, moved, reshard);
  const std::string name_of_value = path + value.name;
  const std::string reader = reshard.of_result ? "" : names[site.operations.front().index()];
  const std::string operation = path + names[site.operations.front().index()];
  const std::string to = to_string(program.meshes, reshard.steps.back().after);
  for (const Collective& step : reshard.steps) {
    Move move{reader.empty() ? name_of_value : fmt::format("{} for {}", name_of_value, reader),
              to_string(program.meshes, step),
              cells_moved(program, graph, sites[reshard.site], step, value.type.shape, caution) *
                  static_cast<std::int64_t>(size_of(value.type.element)),
              !is_explicit && moves_for_others(step.kind),
              name_of_value,
              reader,
              operation,
              std::string(name(step.kind)),
              to};
    if (!moved_for.empty() && move.bytes > 0) {
      move.moved_for = moved_for;
      move.bytes = 0;
    }
    list.push_back(std::move(move));
  }
}

bool is_held_whole(const std::optional<ir::Sharding>& held) {
  return !held || std::ranges::all_of(held->dims, [](const ir::DimSharding& dim) { return dim.axes.empty(); });
}

void add_halos(const ir::Program& program, const ir::Graph& graph, const std::string& path,
               const std::vector<std::string>& names, const SiteShardings& site, std::vector<Move>& list) {
  if (!site.mesh.valid()) return;
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    const ir::Value& value = graph[site.site.operands[k]];
    if (is_held_whole(sharding_of_use(graph, site.site, k))) continue;
    const Halo halo = halo_of(program[site.operands[k].mesh], site.site.factors, k, site.operands[k], value.type.shape);
    if (halo.cells == 0) continue;
    std::string edges;
    for (const HaloEdge& edge : halo.edges)
      edges += fmt::format("{}axis {}: {}..{}", edges.empty() ? "" : ", ", edge.axis, edge.before, edge.after);
    const std::string& reader = names[site.site.operations.front().index()];
    list.push_back({fmt::format("{}{} for {}", path, value.name, reader), "halo_exchange " + edges,
                    halo.cells * static_cast<std::int64_t>(size_of(value.type.element)), false, path + value.name,
                    reader, path + reader, "halo_exchange", ""});
  }
}

// How often each graph runs, by the first path to it.
std::map<ir::GraphId, double> times_of_graphs(const ir::Program& program) {
  std::map<ir::GraphId, double> times{{program.main, 1}};
  for (const auto& [id, path] : graph_paths(program))
    for (const ir::Operation& operation : program[id].operations)
      if (const ir::RegionBody* region = program[operation.op].region())
        times.try_emplace(
            region->graph,
            times[id] * (region->kind == ir::RegionKind::iterate ? static_cast<double>(region->trips.size()) : 1));
  return times;
}

// What a group reads and writes is a value of the graph around it.
bool is_at_the_edge(const ir::Graph& group, const Site& site, const Reshard& reshard) {
  const ir::ValueId moved = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
  return contains(group.inputs, moved) || contains(group.outputs, moved);
}
std::string without_last(const std::string& path) { return path.substr(0, path.rfind('/', path.size() - 2) + 1); }

}  // namespace

double bytes_of_all(const std::vector<Move>& moves) {
  double bytes = 0;
  for (const Move& move : moves) bytes += static_cast<double>(move.bytes) * move.times;
  return bytes;
}

std::vector<Move> moves_of(const ir::Program& program, const Caution& caution) {
  return moves_of(program, implied_sites(program), caution);
}

std::vector<Move> moves_of(const ir::Program& program, const ChosenSites& chosen, const Caution& caution,
                           const std::set<ir::ValueId>& copied) {
  std::vector<Move> list;
  const std::map<ir::GraphId, double> times = times_of_graphs(program);
  for (const auto& [id, path] : graph_paths(program)) {
    const std::size_t before = list.size();
    const auto found = chosen.find(id);
    if (found == chosen.end()) continue;
    const std::vector<SiteShardings>& sites = found->second;
    const ir::Graph& graph = program[id];
    std::vector<std::string> names = operation_names(graph);
    const bool in_group = is_inside_of_a_group(program, id);
    const std::string around = in_group ? without_last(path) : path;
    const std::vector<Reshard> all = reshards(program, graph, sites);
    std::map<ir::ValueId, std::vector<Moved>> moved;  // by value that operations read: those before
    for (const Reshard& reshard : all) {
      const SiteShardings& own = sites[reshard.site];
      std::string moved_for;
      if (!reshard.of_result) {
        const ir::ValueId value = own.site.operands[reshard.tensor];
        Moved now{&reshard, transfer_for(program, graph, own, reshard.tensor)};
        for (const Moved& before : moved[value])
          if (moved_for.empty() && before.reshard->site != reshard.site && are_alike(before.transfer, now.transfer))
            moved_for = names[sites[before.reshard->site].site.operations.front().index()];
        if (id != program.main || !copied.contains(value)) moved[value].push_back(std::move(now));
      }
      add_moves(program, graph, is_at_the_edge(graph, own.site, reshard) ? around : path, names, sites, reshard,
                moved_for, caution, list);
    }
    for (const SiteShardings& site : sites) add_halos(program, graph, path, names, site, list);
    for (std::size_t k = before; k < list.size(); ++k) list[k].times = times.at(id);
  }
  return list;
}

std::optional<Diagnostic> implicit_moves(const ir::Program& program, bool refuse) {
  std::vector<Move> moves = moves_of(program);
  std::erase_if(moves, [](const Move& move) { return !move.implicit; });
  if (moves.empty()) return std::nullopt;
  const Move& first = moves.front();
  std::string message = first.reader.empty() ? "the program requires"
                                             : fmt::format("computing `{}` requires", first.reader);
  message += fmt::format(" an implicit reshard of `{}` to {}: {}, {} per device", first.value, first.to,
                         first.collective, byte_size(bytes_of_all({first})));
  if (moves.size() > 1)
    message += fmt::format("; and {} more, {} per device in total", moves.size() - 1, byte_size(bytes_of_all(moves)));
  Diagnostic diagnostic(refuse ? Code::implicit_reshard : Code::implicit_move, Span{}, std::move(message));
  if (refuse) diagnostic.note("`--no-implicit-reshard` rejects implicit reshards");
  diagnostic.note(
      fmt::format("`tapc explain FILE:{}..{}` gives the reasons; `tapc sharding FILE --moves` lists every reshard",
                  first.value, first.reader.empty() ? first.value : first.operation));
  const std::string own = first.value.substr(first.value.rfind('/') + 1);
  diagnostic.help(
      "give both the same sharding, or reshard explicitly" +
      (is_name(own) ? fmt::format(": `{}2 = {} @ {}`", own, own, first.to) : ", as in `Z2 = Z @ " + first.to + "`"));
  return diagnostic;
}

}  // namespace tap::passes
