#include "passes/shardings/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "ir/graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/axis_algebra.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "ir/shardings/sharded_boxes.h"
#include "passes/shardings/all_reduces.h"
#include "passes/shardings/cells_by_device.h"
#include "passes/shardings/explicit_reshards.h"
#include "passes/shardings/halos.h"
#include "passes/shardings/moves_of_iterates.h"
#include "passes/shardings/reads.h"
#include "passes/splits/split_operator.h"
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

// What a site reads of one value, and what of it is moved. A value that two accesses read differently has two uses.
struct Read {
  // That are received at each position of the site's mesh, and not yet listed; none: the steps tell.
  std::optional<std::vector<std::int64_t>> cells = {};
  std::string moved_for = {};  // an earlier reader of the same
};
using ReadsOfSite = std::map<std::pair<ir::OperationId, std::uint32_t>, Read>;

// Transfers of a value by other sites so far.
struct Moved {
  std::size_t site;
  SiteRead read;
};
using MovedValues = std::map<ir::ValueId, std::vector<Moved>>;

// `copied`: values of which each reader has a copy of its own.
ReadsOfSite reads_of(const ir::Program& program, ir::GraphId id, const std::vector<std::string>& names,
                     const std::vector<SiteShardings>& sites, std::size_t number, const std::set<ir::ValueId>& copied,
                     MovedValues& moved) {
  const ir::Graph& graph = program[id];
  const SiteShardings& site = sites[number];
  ReadsOfSite reads;
  if (!site.mesh.valid() || ir::is_maximal(program[site.mesh]) || site.factors.empty()) return reads;
  const std::vector<std::int64_t> positions = positions_of(program[site.mesh]);
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    const auto [place, fresh] = reads.try_emplace(site.site.uses[k]);
    const std::optional<ir::Sharding> held = sharding_of_use(graph, site.site, k);
    if (!fresh || is_held_whole(held)) continue;
    const ir::ValueId value = site.site.operands[k];
    Read& read = place->second;
    if (is_given_to_trips(program, id, value) || is_left_by_iterate(program, id, value)) {
      read.cells = std::vector<std::int64_t>(positions.size(), 0);
      continue;
    }
    std::vector<SiteRead> own;
    for (SiteRead& part : reads_of_site(program, graph, site, k)) {
      const auto shared = std::ranges::find_if(
          moved[value], [&](const Moved& before) { return before.site != number && are_alike(before.read, part); });
      if (shared == moved[value].end()) own.push_back(std::move(part));
      else read.moved_for = names[sites[shared->site].site.operations.front().index()];
    }
    if (!own.empty()) read.moved_for.clear();
    if (held->mesh == site.mesh && held->unreduced.empty())
      read.cells = cells_received(program[site.mesh], positions, own, *held, graph[value].type.shape);
    if (!copied.contains(value))
      for (SiteRead& part : own) moved[value].push_back({number, std::move(part)});
  }
  return reads;
}

void add_moves(const ir::Program& program, const ir::Graph& graph, const std::string& path,
               const std::vector<std::string>& names, const std::vector<SiteShardings>& sites, const Reshard& reshard,
               ReadsOfSite& reads, const Caution& caution, std::vector<Move>& list) {
  const Site& site = sites[reshard.site].site;
  Read* read = reshard.of_result ? nullptr : &reads[site.uses[reshard.tensor]];
  const ir::ValueId moved = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
  const ir::Value& value = graph[moved];
  const bool is_explicit = reshard.is_explicit || at_the_edge(program, graph, moved, reshard);
  const std::string name_of_value = path + value.name;
  const std::string reader = reshard.of_result ? "" : names[site.operations.front().index()];
  const std::string operation = path + names[site.operations.front().index()];
  const std::string to = to_string(program.meshes, reshard.steps.back().after);
  for (const Collective& step : reshard.steps) {
    std::int64_t cells = cells_moved(program, graph, sites[reshard.site], step, value.type.shape, caution);
    const bool moves_any = cells > 0;
    const bool is_shared = read && !read->moved_for.empty() && moves_any;
    std::vector<std::int64_t> by_position;
    if (read && read->cells) {
      by_position = taken(*read->cells, cells);
      cells = std::ranges::max(by_position);
    }
    Move move{reader.empty() ? name_of_value : fmt::format("{} for {}", name_of_value, reader),
              to_string(program.meshes, step),
              cells * static_cast<std::int64_t>(size_of(value.type.element)),
              !is_explicit && moves_for_others(step.kind) && (cells > 0 || !moves_any || is_shared),
              name_of_value,
              reader,
              operation,
              std::string(name(step.kind)),
              to};
    if (is_shared) {
      move.moved_for = read->moved_for;
      move.bytes = 0;
    } else if (!by_position.empty()) {
      move.of_devices = by_device(program[sites[reshard.site].mesh], by_position, value.type.element);
    }
    list.push_back(std::move(move));
  }
}

// What is not a step from one sharding to another: cells around a block, and cells of other blocks.
void add_halos(const ir::Program& program, const ir::Graph& graph, const std::string& path,
               const std::vector<std::string>& names, const SiteShardings& site, ReadsOfSite& reads,
               std::vector<Move>& list) {
  if (!site.mesh.valid()) return;
  for (std::size_t k = 0; k < site.operands.size(); ++k) {
    const ir::Value& value = graph[site.site.operands[k]];
    if (is_held_whole(sharding_of_use(graph, site.site, k))) continue;
    const Halo halo = halo_of(program[site.operands[k].mesh], site.site.factors, k, site.operands[k], value.type.shape);
    Read& read = reads[site.site.uses[k]];
    std::vector<std::int64_t> by_position;
    if (read.cells) by_position = taken(*read.cells, std::numeric_limits<std::int64_t>::max());
    const std::int64_t cells = read.cells ? std::ranges::max(by_position) : halo.cells;
    if (cells == 0) continue;
    if (!read.cells) read.cells = std::vector<std::int64_t>(positions_of(program[site.mesh]).size(), 0);
    std::string edges;
    for (const HaloEdge& edge : halo.edges)
      edges += fmt::format("{}axis {}: {}..{}", edges.empty() ? "" : ", ", edge.axis, edge.before, edge.after);
    const std::string& reader = names[site.site.operations.front().index()];
    list.push_back({fmt::format("{}{} for {}", path, value.name, reader),
                    edges.empty() ? "copy from other blocks" : "halo_exchange " + edges,
                    cells * static_cast<std::int64_t>(size_of(value.type.element)), false, path + value.name, reader,
                    path + reader, edges.empty() ? "copy" : "halo_exchange", ""});
    if (!by_position.empty()) list.back().of_devices = by_device(program[site.mesh], by_position, value.type.element);
  }
}

void add_carry(const ir::Program& program, const ir::Graph& graph, const std::string& path,
               const std::vector<std::string>& names, const SiteShardings& site, std::vector<Move>& list) {
  const auto scan = divided_scan(program, graph, site.site, site.mesh, site.factors);
  if (!scan) return;
  const std::string name = path + graph[site.site.results.front()].name;
  list.push_back(
      {name, fmt::format("all_gather {{{}}} of the totals of blocks", to_string(program[site.mesh], scan->over)),
       scan->bytes_of_totals, false, name, "", path + names[site.site.operations.front().index()], "all_gather", ""});
}

// What a group reads and writes is a value of the graph around it.
bool is_at_the_edge(const ir::Graph& group, const Site& site, const Reshard& reshard) {
  const ir::ValueId moved = (reshard.of_result ? site.results : site.operands)[reshard.tensor];
  return contains(group.inputs, moved) || contains(group.outputs, moved);
}
std::string without_last(const std::string& path) { return path.substr(0, path.rfind('/', path.size() - 2) + 1); }

}  // namespace

double bytes_of_all(const std::vector<Move>& moves) {
  double of_each = 0, most = 0;
  std::map<std::int64_t, double> of_devices;
  for (const Move& move : moves)
    for (const auto& [device, bytes] : move.of_devices) of_devices[device] = 0;
  for (const Move& move : moves) {
    if (move.of_devices.empty()) of_each += static_cast<double>(move.bytes) * move.times;
    else
      for (auto& [device, bytes] : of_devices) {
        const auto own = move.of_devices.find(device);
        bytes += static_cast<double>(own == move.of_devices.end() ? move.bytes : own->second) * move.times;
      }
  }
  for (const auto& [device, bytes] : of_devices) most = std::max(most, bytes);
  return of_each + most;
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
    const std::vector<SiteShardings> sites = found == chosen.end() ? std::vector<SiteShardings>{} : found->second;
    const ir::Graph& graph = program[id];
    std::vector<std::string> names = operation_names(graph);
    const bool in_group = is_inside_of_a_group(program, id);
    const std::string around = in_group ? without_last(path) : path;
    const std::vector<Reshard> all = reshards(program, graph, sites);
    const std::set<ir::ValueId> own_copies = id == program.main ? copied : std::set<ir::ValueId>{};
    MovedValues moved;
    std::vector<ReadsOfSite> reads;
    for (std::size_t s = 0; s < sites.size(); ++s)
      reads.push_back(reads_of(program, id, names, sites, s, own_copies, moved));
    for (const Reshard& reshard : all)
      add_moves(program, graph, is_at_the_edge(graph, sites[reshard.site].site, reshard) ? around : path, names, sites,
                reshard, reads[reshard.site], caution, list);
    for (std::size_t s = 0; s < sites.size(); ++s) {
      add_halos(program, graph, path, names, sites[s], reads[s], list);
      add_carry(program, graph, path, names, sites[s], list);
    }
    if (!in_group) add_moves_of_iterates(program, id, path, own_copies, list);
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
