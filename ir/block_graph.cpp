#include "ir/block_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.h"

namespace tap::ir {
namespace {

std::string_view name_of(Placement placement) {
  switch (placement) {
    case Placement::unspecified: return "anywhere";
    case Placement::threads: return "threads";
    case Placement::sequential: return "sequential";
    case Placement::mesh_axis: return "axis";
  }
  return "";
}

std::string names(const BlockGraph& graph, const std::vector<ValueId>& ids) {
  std::string out;
  for (ValueId id : ids)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", graph[id].name, to_string(graph[id].type));
  return "(" + out + ")";
}

std::string print_split(const Operator& op, const BlockSplit& split) {
  std::string out = fmt::format("  split {} into", op.dims[split.dim].name);
  for (Range block : split.blocks) out += " " + to_string(block);
  out += fmt::format(" over {}", split.axis ? split.axis->name : std::string(name_of(split.placement)));
  if (split.block_dim) out += fmt::format(", block number {}", op.dims[*split.block_dim].name);
  return out + "\n";
}

}  // namespace

std::vector<Range> ceil_blocks(Range range, std::int64_t count) {
  TAP_CHECK(count > 0, "a dim is cut into at least one block");
  std::vector<Range> blocks;
  for (std::int64_t b = 0; b < count; ++b) blocks.push_back(Blocks{count}.block(range, b));
  return blocks;
}

std::vector<Application> applications_of(const Operator& op, const std::vector<BlockSplit>& splits) {
  std::vector<Application> result{{{}, op.box()}};
  for (const BlockSplit& split : splits) {
    std::vector<Application> finer;
    for (const Application& whole : result)
      for (std::size_t b = 0; b < split.blocks.size(); ++b) {
        Application part = whole;
        auto number = static_cast<std::int64_t>(b);
        part.block.push_back(static_cast<std::uint32_t>(b));
        part.box.dims[split.dim] = intersect(part.box.dims[split.dim], split.blocks[b]);
        if (split.block_dim) part.box.dims[*split.block_dim] = {number, number + 1};
        finer.push_back(std::move(part));
      }
    result = std::move(finer);
  }
  return result;
}

std::string print(const Program& program, const BlockGraph& graph) {
  std::string out =
      fmt::format("block graph {} {} -> {}\n", graph.name, names(graph, graph.inputs), names(graph, graph.outputs));
  for (const BlockOperation& operation : graph.operations) {
    const Operator& op = program[operation.op];
    out +=
        fmt::format("apply {} {} -> {}\n", op.name, names(graph, operation.operands), names(graph, operation.results));
    for (const BlockSplit& split : operation.splits) out += print_split(op, split);
    for (const Application& application : operation.applications) out += "  on " + to_string(application.box) + "\n";
  }
  return out;
}

}  // namespace tap::ir
