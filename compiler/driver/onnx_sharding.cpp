#include "compiler/driver/onnx_sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/onnx_json.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/written_operations.h"
#include "ir/shardings/mesh_names.h"
#include "passes/pass_manager.h"
#include "passes/shardings/onnx_lowered.h"
#include "passes/simplify/inline_calls.h"
#include "support/check.h"

namespace tap::driver {
namespace {

using passes::onnx::Finding;
using passes::onnx::SpecRef;

// A file of specs, with their locations. Specs written by us have none.
struct SpecsFile {
  FileId file;
  OnnxJson json;

  Span span(ByteRange at) const {
    return {file, static_cast<std::uint32_t>(at.begin), static_cast<std::uint32_t>(at.end)};
  }
  Span span(const SpecRef& place) const {
    const NodeBytes& node = json.nodes[place.node];
    return span(place.spec ? node.specs[*place.spec].whole : node.name);
  }
  // The location in the first spec that a finding is about.
  Span span(const Finding& finding) const {
    const SpecRef& place = finding.at.front();
    if (!place.spec) return span(place);
    const SpecBytes& spec = json.nodes[place.node].specs[*place.spec];
    switch (finding.broken.field) {
      case ir::onnx::Field::whole: return span(spec.whole);
      case ir::onnx::Field::tensor: return span(spec.tensor);
      case ir::onnx::Field::device: return span(spec.device);
      case ir::onnx::Field::groups: return span(spec.groups.value_or(spec.device));
      case ir::onnx::Field::dim: return span(spec.dims[finding.broken.dim]);
    }
    TAP_UNREACHABLE("a field of a spec");
  }
};

Diagnostic diagnose(const Session& session, const SpecsFile* specs, const Finding& finding, bool fallback) {
  const ir::onnx::RuleInfo& rule = info(finding.broken.rule);
  std::string where = finding.tensor.empty()           ? fmt::format("`{}`", finding.node)
                      : finding.tensor == finding.node ? fmt::format("`{}`", finding.tensor)
                                                       : fmt::format("`{}` at `{}`", finding.tensor, finding.node);
  bool placed = specs && !finding.at.empty();
  Diagnostic diagnostic(fallback ? Code::pass_declined : Code::plan_not_applicable,
                        placed ? specs->span(finding) : Span{},
                        fmt::format("sharding of {}: {}", where, finding.broken.message));
  for (std::size_t k = 1; placed && k < finding.at.size(); ++k)
    diagnostic.label(specs->span(finding.at[k]), "and this spec");
  Span node = written_at(session.operations, finding.node);
  if (!node.valid()) node = written_at(session.operations, finding.node + "@0");  // the first of several writers
  if (node.valid()) diagnostic.label(node, fmt::format("the node `{}`", finding.node));
  diagnostic.note(fmt::format("{} `{}`: {}", rule.limit ? "tapc limit" : "rule", rule.name, rule.text));
  if (fallback)
    diagnostic.note(
        fmt::format("`{}` is treated as unsharded", finding.tensor.empty() ? finding.node : finding.tensor));
  else if (rule.limit) diagnostic.help("`--on-unsupported=fallback` treats unsupported specs as unsharded");
  return diagnostic;
}

// Returns whether one of them is an error.
bool report(const Session& session, const SpecsFile* specs, const std::vector<Finding>& findings,
            const OnnxChoices& choices) {
  Diagnostics all;
  for (const Finding& finding : findings)
    all.report(diagnose(session, specs, finding, info(finding.broken.rule).limit && !choices.limits_are_errors));
  session.report(all);
  return all.has_errors();
}

SpecsFile read_specs(Session& session, const std::string& path) {
  SpecsFile specs{read_source(session, path), {}};
  auto parsed = parse_onnx_json(session.sources.file(specs.file).text());
  if (auto* mistake = std::get_if<JsonMistake>(&parsed)) {
    Diagnostic diagnostic(Code::plan_not_applicable, specs.span(mistake->at), mistake->message);
    if (!mistake->other.empty()) diagnostic.label(specs.span(mistake->other_at), mistake->other);
    throw Failure{exit_code::wrong_program,
                  std::move(diagnostic).help("docs/guide/onnx_shardings.md describes the format")};
  }
  specs.json = std::move(std::get<OnnxJson>(parsed));
  return specs;
}

}  // namespace

OnnxProgram read_onnx_shardings(Session& session, const std::string& file, const SourceOptions& source,
                                const std::string& specs, const OnnxChoices& choices) {
  Compiled compiled = build_file(session, read_program_file(session, file, source));
  SpecsFile read = read_specs(session, specs);
  const passes::onnx::Shardings& shardings = read.json.shardings;
  ir::Program program = passes::inline_calls(std::move(compiled.program), {}).program;
  OnnxProgram out;
  out.inferred = infer(program, shardings, choices.reduced);
  if (choices.lowered) {
    ir::Program lowered = passes::run(passes::lowering(), program).program;
    passes::onnx::LoweredShardings left = passes::onnx::lowered(program, out.inferred, lowered);
    left.inferred.findings = std::move(out.inferred.findings);
    out.inferred = std::move(left.inferred);
    out.inside = std::move(left.inside);
    program = std::move(lowered);
  }
  passes::onnx::Annotated annotated = passes::onnx::annotated(std::move(program), out.inferred);
  std::vector<Finding> findings = out.inferred.findings;
  findings.insert(findings.end(), annotated.findings.begin(), annotated.findings.end());
  if (!choices.listed)
    findings.insert(findings.end(), annotated.listable_findings.begin(), annotated.listable_findings.end());
  if (report(session, &read, findings, choices)) throw Reported{exit_code::wrong_program, Code::plan_not_applicable};
  for (const std::string& value : out.inside)
    session.report(
        Diagnostic(Code::pass_declined, Span{},
                   fmt::format("sharding of `{}`: it is fused into its readers and takes their shards", value)));
  for (const passes::onnx::NodeSpecs& node : shardings.nodes) out.nodes.push_back(node.node);
  out.program = std::move(annotated.program);
  out.listed = std::move(annotated.listed);
  return out;
}

std::string list_specs(const OnnxProgram& found) {
  const ir::Graph& graph = found.program[found.program.main];
  std::string text;
  for (const ir::Mesh& mesh : found.program.meshes) {
    std::string axes;
    for (const ir::MeshAxis& axis : mesh.axes)
      axes += fmt::format("{}{}: {}", axes.empty() ? "" : ", ", axis.name, axis.size);
    text += fmt::format("mesh {} = [{}]", mesh.name, axes);
    if (!mesh.devices.empty()) text += fmt::format(" devices [{}]", fmt::join(mesh.devices, ", "));
    text += "\n";
  }
  if (!text.empty()) text += "\n";
  std::size_t names = 0;
  for (const ir::Value& value : graph.values) names = std::max(names, value.name.size());
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const ir::Value& value = graph.values[v];
    text += fmt::format("{:{}}  {}", value.name, names, to_string(found.inferred.values[v]));
    if (value.sharding) text += "  " + to_string(found.program.meshes, *value.sharding);
    else if (found.listed.values[v]) text += "  listed by --plan";
    text += "\n";
  }
  for (const ir::Operation& operation : graph.operations)
    for (std::size_t k = 0; k < operation.operand_shardings.size(); ++k)
      if (operation.operand_shardings[k])
        text += fmt::format("{}, as the operand of {}: {}\n", graph[operation.operands[k]].name,
                            graph[operation.results[0]].name,
                            to_string(found.program.meshes, *operation.operand_shardings[k]));
  for (std::size_t n = 0; n < found.nodes.size(); ++n)
    text += fmt::format("node {} is {} {}\n", found.nodes[n],
                        found.inferred.operations[n].size() == 1 ? "the operation" : "the operations",
                        fmt::join(found.inferred.operations[n], ", "));
  return text;
}

std::string onnx_json_of(Session& session, const ir::Program& program, const OnnxChoices& choices,
                         const passes::ListedValues& listed) {
  passes::onnx::WrittenSpecs written = passes::onnx::specs_of(program, listed);
  if (report(session, nullptr, written.findings, choices))
    throw Reported{exit_code::wrong_program, Code::plan_not_applicable};
  return print_onnx_json(written.shardings);
}

}  // namespace tap::driver
