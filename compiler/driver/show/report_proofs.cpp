#include "compiler/driver/show/report_proofs.h"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

#include "compiler/pipeline/pipeline.h"
#include "ir/graphs/operation_names.h"

namespace tap::driver {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_findings = 2000;

std::string_view name_of(check::Standing standing) {
  switch (standing) {
    case check::Standing::proved: return "proved";
    case check::Standing::assumed: return "assumed";
    case check::Standing::refused: return "refused";
  }
  return "";
}

// Names of the operations that a step made, graph by graph.
class Names {
 public:
  explicit Names(const std::vector<ir::Program>& stages) : stages_(stages) {}

  std::string of(const check::At& at) {
    if (!at.step || !at.graph || !at.operation || *at.step + 1 >= stages_.size()) return "";
    const ir::Program& program = stages_[*at.step + 1];
    auto [names, fresh] = names_.try_emplace({*at.step, *at.graph});
    if (fresh)
      for (const auto& [graph, path] : ir::graph_paths(program))
        if (graph.index() == *at.graph)
          for (const std::string& name : ir::operation_names(program[graph])) names->second.push_back(path + name);
    return *at.operation < names->second.size() ? names->second[*at.operation] : "";
  }

 private:
  const std::vector<ir::Program>& stages_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> names_;
};

}  // namespace

ordered_json report_proofs(const pipeline::Compilation& made) {
  ordered_json meanings = ordered_json::object(), findings = ordered_json::array();
  Names names(made.stages);
  for (const check::Finding& finding : made.verdict.findings) {
    const std::string obligation(check::name_of(finding.obligation));
    meanings[obligation] = check::meaning_of(finding.obligation);
    // What is assumed is always listed.
    if (findings.size() >= most_findings && finding.standing == check::Standing::proved) continue;
    findings.push_back({obligation, name_of(finding.standing),
                        finding.at.step ? ordered_json(*finding.at.step) : ordered_json(), names.of(finding.at),
                        finding.detail});
  }
  return {
      {"meanings", std::move(meanings)}, {"findings", std::move(findings)}, {"count", made.verdict.findings.size()}};
}

}  // namespace tap::driver
