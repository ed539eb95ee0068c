#include "compiler/pipeline/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/block_graph.h"
#include "ir/graphs/operation_names.h"
#include "ir/shardings/device_assignment.h"
#include "support/plural.h"

namespace tap::pipeline {
namespace {

constexpr std::int64_t uncounted = std::numeric_limits<std::int64_t>::max();

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? uncounted : result;
}
std::string count_text(std::int64_t count) { return count == uncounted ? "2^63 or more" : std::to_string(count); }

// The blocks of an operation: per device, those of the dims that are not placed on devices.
struct Listed {
  std::int64_t count = 1;
  std::string factors;  // 4096 × 64

  void times(std::int64_t more) {
    if (more == 1) return;
    count = product(count, more);
    factors += (factors.empty() ? "" : " × ") + std::to_string(more);
  }
};

Listed listed(const ir::Program& program, const ir::Operation& operation) {
  const ir::Operator& op = program[operation.op];
  const ir::DeviceAssignment places(program, operation);
  Listed all;
  if (!places.is_replicated()) all.times(places.count());
  if (op.transfer()) return all;  // moves all blocks of a device at once
  for (std::uint32_t d : application_dims(op, operation)) {
    const bool by_device = std::ranges::any_of(
        operation.placements, [d](const ir::BlockPlacement& p) { return p.dim == d && on_devices(p); });
    if (!by_device) all.times(op.dims[d].range.size());
  }
  return all;
}

TooManyBlocks refused_list(const std::string& name, const std::string& what) {
  Diagnostic diagnostic(Code::plan_not_applicable, Span{}, what);
  diagnostic.help("split it into fewer blocks; `tapc verify --stage=sharded` needs no list of blocks");
  return {std::move(diagnostic), name};
}

// As a plain decimal number, however large.
std::string decimal(unsigned __int128 n) {
  std::string text;
  do text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
  while ((n /= 10) != 0);
  return text;
}

}  // namespace

void require_listable(const ir::Program& program) {
  std::int64_t in_all = 0, most = 0;
  std::string most_of;
  for (const auto& [id, path] : graph_paths(program)) {
    const ir::Graph& graph = program[id];
    const std::vector<std::string> names = operation_names(graph);
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      const Listed all = listed(program, graph.operations[o]);
      const std::string name = path + names[o];
      if (all.count > most_listed)
        throw refused_list(name,
                           fmt::format("`{}` is split into {}{} blocks; at most {} per operation can be listed", name,
                                       all.factors.find("×") != std::string::npos ? all.factors + " = " : "",
                                       count_text(all.count), most_listed));
      if (all.count > most) most = all.count, most_of = name;
      in_all += all.count;
      if (in_all > most_listed_in_all)
        throw refused_list(most_of, fmt::format("the operations of the program are split into more than {} blocks in "
                                                "total (`{}` into {}), the most that can be listed",
                                                most_listed_in_all, most_of, plural(most, "block")));
    }
  }
}

void require_addressable(const ir::Program& program) {
  for (const auto& [id, path] : graph_paths(program))
    for (const ir::Value& value : program[id].values) {
      unsigned __int128 bytes = size_of(value.type.element);
      bool fits = true;
      for (std::int64_t extent : value.type.shape) fits = fits && extent != 0;
      if (!fits) continue;  // no cells
      for (std::int64_t extent : value.type.shape)
        if (bytes <= static_cast<unsigned __int128>(uncounted)) bytes *= static_cast<unsigned __int128>(extent);
      if (bytes <= static_cast<unsigned __int128>(most_bytes)) continue;
      throw Failure{exit_code::resource,
                    Diagnostic(Code::out_of_memory, Span{},
                               fmt::format("`{}{}` is {}, which takes {} bytes; a buffer has at most {}", path,
                                           value.name, to_string(value.type), decimal(bytes), most_bytes))
                        .help("use smaller sizes, for example with --dim; commands that need no memory, such as `tapc "
                              "verify --stage=sharded`, work with these sizes")};
    }
}

void require_countable(const ir::Program& program) {
  for (const auto& [id, path] : graph_paths(program)) {
    const ir::Graph& graph = program[id];
    const std::vector<std::string> names = operation_names(graph);
    for (std::size_t o = 0; o < graph.operations.size(); ++o)
      for (const ir::IndexDim& dim : program[graph.operations[o].op].dims) {
        const ir::Range range = dim.range;
        if (range.lo >= range.hi || (range.lo >= -most_index && range.hi <= most_index)) continue;
        throw Failure{
            exit_code::resource,
            Diagnostic(Code::overflow, Span{},
                       fmt::format("`{}` of `{}{}` runs over {}..{}; loops of native code count from {} to {}",
                                   dim.name, path, names[o], range.lo, range.hi, -most_index, most_index))
                .help("use a smaller range, or `tapc run --engine=interp`")};
      }
  }
}

}  // namespace tap::pipeline
