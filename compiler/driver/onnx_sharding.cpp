#include "compiler/driver/onnx_sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/onnx_json.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/read_stage.h"
#include "passes/inline_calls.h"
#include "passes/pipeline.h"

namespace tap::driver {
namespace {

using passes::onnx::Finding;

Diagnostic diagnose(const Finding& finding, bool fallback) {
  const ir::onnx::RuleInfo& rule = info(finding.broken.rule);
  std::string where = finding.tensor.empty()           ? fmt::format("`{}`", finding.node)
                      : finding.tensor == finding.node ? fmt::format("`{}`", finding.tensor)
                                                       : fmt::format("`{}` at `{}`", finding.tensor, finding.node);
  Diagnostic diagnostic(fallback ? Code::pass_declined : Code::plan_not_applicable, Span{},
                        fmt::format("sharding of {}: {}", where, finding.broken.message));
  diagnostic.note(fmt::format("{} `{}`: {}", rule.limit ? "our limit" : "rule", rule.name, rule.text));
  if (fallback) diagnostic.note("it is taken as unsharded");
  else if (rule.limit) diagnostic.help("`--on-unsupported=fallback` takes what is more than we do as unsharded");
  return diagnostic;
}

// Whether one of them is an error.
bool tell(const Session& session, const std::vector<Finding>& findings, const OnnxChoices& choices) {
  Diagnostics all;
  for (const Finding& finding : findings)
    all.report(diagnose(finding, info(finding.broken.rule).limit && !choices.limits_are_errors));
  session.tell(all);
  return all.has_errors();
}

passes::onnx::Shardings read_specs(Session& session, const std::string& path) {
  FileId file = read_source(session, path);
  const SourceFile& source = session.sources.file(file);
  auto parsed = parse_onnx_json(source.text());
  if (auto* mistake = std::get_if<JsonMistake>(&parsed)) {
    auto end = static_cast<std::uint32_t>(source.text().size());
    std::uint32_t at = std::min(end, static_cast<std::uint32_t>(mistake->byte.value_or(0)));
    throw Failure{exit_code::wrong_program,
                  Diagnostic(Code::plan_not_applicable, Span{file, at, std::min(end, at + 1)}, mistake->message)
                      .help("docs/onnx_shardings.md has the format")};
  }
  return std::move(std::get<0>(parsed));
}

}  // namespace

OnnxProgram read_onnx_shardings(Session& session, const std::string& file, const SourceOptions& source,
                                const std::string& specs, const OnnxChoices& choices) {
  Compiled compiled = compile_or_read(session, read_source(session, file), compile_options(source));
  require_inputs(compiled, source);
  passes::onnx::Shardings shardings = read_specs(session, specs);
  ir::Program program = choices.lowered ? passes::run(passes::lowering(), std::move(compiled.program)).program
                                        : passes::inline_calls(std::move(compiled.program), {}).program;
  OnnxProgram out;
  out.inferred = infer(program, shardings, choices.reduced);
  passes::onnx::Annotated annotated = passes::onnx::annotated(std::move(program), out.inferred);
  std::vector<Finding> findings = out.inferred.findings;
  findings.insert(findings.end(), annotated.findings.begin(), annotated.findings.end());
  if (!choices.listed) findings.insert(findings.end(), annotated.unsaid.begin(), annotated.unsaid.end());
  if (tell(session, findings, choices)) throw Reported{exit_code::wrong_program, Code::plan_not_applicable};
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
    if (value.sharding) text += "  " + to_string(*value.sharding);
    else if (found.listed.values[v]) text += "  listed by --plan";
    text += "\n";
  }
  for (const ir::Operation& operation : graph.operations)
    for (std::size_t k = 0; k < operation.operand_shardings.size(); ++k)
      if (operation.operand_shardings[k])
        text += fmt::format("{} as read for {}: {}\n", graph[operation.operands[k]].name,
                            graph[operation.results[0]].name, to_string(*operation.operand_shardings[k]));
  return text;
}

std::string onnx_json_of(Session& session, const ir::Program& program, const OnnxChoices& choices,
                         const passes::ListedValues& listed) {
  passes::onnx::Written written = passes::onnx::specs_of(program, listed);
  if (tell(session, written.findings, choices)) throw Reported{exit_code::wrong_program, Code::plan_not_applicable};
  return print_onnx_json(written.shardings);
}

}  // namespace tap::driver
