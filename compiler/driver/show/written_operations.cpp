#include "compiler/driver/show/written_operations.h"

#include <vector>

#include "compiler/frontend/elaborate/compile.h"
#include "ir/graphs/operation_names.h"

namespace tap::driver {

std::map<std::string, Span, std::less<>> written_operations(const Compiled& compiled) {
  struct Visit {
    ir::GraphId graph;
    std::string path;
  };
  const ir::Program& program = compiled.program;
  std::map<std::string, Span, std::less<>> found;
  std::vector<bool> seen(program.graphs.size(), false);
  std::vector<Visit> visits{{program.main, ""}};
  seen[program.main.index()] = true;
  for (std::size_t k = 0; k < visits.size(); ++k) {
    auto [graph, path] = visits[k];
    if (graph.index() >= compiled.provenance.graphs.size()) continue;
    const std::vector<Span>& spans = compiled.provenance.graphs[graph.index()].operations;
    std::vector<std::string> names = ir::operation_names(program[graph]);
    for (std::size_t o = 0; o < names.size() && o < spans.size(); ++o) {
      found.emplace(path + names[o], spans[o]);
      const ir::RegionBody* region = program[program[graph].operations[o].op].region();
      if (!region || seen[region->graph.index()]) continue;
      seen[region->graph.index()] = true;
      visits.push_back({region->graph, path + names[o] + (region->kind == ir::RegionKind::call ? "." : "/")});
    }
  }
  return found;
}

std::map<std::string, Span, std::less<>> declared_inputs(const Compiled& compiled) {
  std::map<std::string, Span, std::less<>> found;
  const ir::Graph& main = compiled.program[compiled.program.main];
  const std::vector<Span>& spans = compiled.provenance.graphs.at(compiled.program.main.index()).values;
  for (ir::ValueId v : main.inputs) found.emplace(main[v].name, spans.at(v.index()));
  return found;
}

Span written_at(const std::map<std::string, Span, std::less<>>& operations, std::string_view name) {
  while (true) {
    if (auto found = operations.find(name); found != operations.end()) return found->second;
    std::size_t end = name.find_last_of("./@#");
    if (end == name.npos || end == 0) return {};
    name = name.substr(0, end);
  }
}

Span called_at(const std::map<std::string, Span, std::less<>>& operations, std::string_view name) {
  std::vector<Span> frames;  // from the inside out
  while (true) {
    if (auto found = operations.find(name); found != operations.end() && found->second.valid())
      frames.push_back(found->second);
    const std::size_t end = name.find_last_of("./@#");
    if (end == name.npos || end == 0) break;
    name = name.substr(0, end);
  }
  for (const Span& frame : frames)
    if (frame.file == frames.back().file) return frame;
  return {};
}

}  // namespace tap::driver
