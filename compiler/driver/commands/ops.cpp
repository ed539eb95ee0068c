// tapc ops [NAME]: lists the operators and monoids of the standard library or of a file, or describes one:
// documentation, index spaces, projections, and what a shard of it needs.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <set>

#include "compiler/driver/commands/command.h"
#include "compiler/driver/compile_file.h"
#include "compiler/driver/operator_sample.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/describe_monoid.h"
#include "compiler/driver/show/sharding_facts.h"
#include "compiler/driver/standard_library.h"
#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/parse.h"
#include "ir/text.h"
#include "ir/text_names.h"
#include "passes/shardings/factors.h"
#include "passes/simplify/inline_calls.h"
#include "support/phase.h"
#include "support/plural.h"

namespace tap::driver {
namespace {

struct OpsOptions {
  std::string name, file;
  SourceOptions source;
  std::vector<std::string> parameters;
};

// From `op` up to the body, on one line.
std::string heading(const SourceMap& sources, const Signature& signature) {
  std::string_view text = sources.text(signature.span);
  std::size_t begin = 0;
  while (begin < text.size() &&
         (text.compare(begin, 3, "///") == 0 || text[begin] == ' ' || text[begin] == '\n' || text[begin] == '\r')) {
    if (text[begin] == '/') begin = std::min(text.find('\n', begin), text.size());
    else ++begin;
  }
  std::string out;
  for (char c : text.substr(begin, text.find('{', begin) - begin)) {
    bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (blank ? !out.empty() && out.back() != ' ' : true) out += blank ? ' ' : c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string indented(std::string_view text, std::string_view by) {
  std::string out;
  while (!text.empty()) {
    auto end = std::min(text.find('\n'), text.size());
    out += fmt::format("{}{}\n", by, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// `add: y = a + b` next to the name `add` is `y = a + b`.
std::string summary_of(const std::string& name, const std::string& doc) {
  std::string line = first_line(doc);
  return line.starts_with(name + ": ") ? line.substr(name.size() + 2) : line;
}

std::string list_all(const std::vector<Signature>& all, const ast::Module& module) {
  std::vector<const ast::MonoidDecl*> monoids = monoids_of(module);
  std::size_t widest = 0;
  for (const Signature& signature : all) widest = std::max(widest, signature.name.size());
  for (const ast::MonoidDecl* monoid : monoids) widest = std::max(widest, monoid->name.text.size());
  std::string text;
  for (const Signature& signature : all)
    text += fmt::format("{:{}}  {}\n", signature.name, widest, summary_of(signature.name, signature.doc));
  if (!all.empty() && !monoids.empty())
    text += "\nmonoids, for reductions such as (m[i], at[i]) = argmax[k] (x[i, k], k):\n\n";
  if (!all.empty())
    for (const ast::MonoidDecl* monoid : monoids)
      text += fmt::format("{:{}}  {}\n", monoid->name.text, widest, summary_of(monoid->name.text, monoid->doc));
  return text;
}

// The declarations of a file without operators.
std::string without_operators(const ast::Module& module, const std::string& file) {
  std::vector<std::string> monoids, programs;
  for (const ast::Declaration& item : module.declarations) {
    if (const auto* monoid = std::get_if<ast::MonoidDecl>(&item.node)) monoids.push_back(monoid->name.text);
    if (const auto* program = std::get_if<ast::ProgramDecl>(&item.node)) programs.push_back(program->name.text);
  }
  std::string text = "`" + file + "` declares no operators";
  if (!monoids.empty()) text += fmt::format("; its monoids are {}", fmt::join(monoids, ", "));
  if (!programs.empty()) text += fmt::format("; its programs are {}", fmt::join(programs, ", "));
  return text + "\n";
}

// `iterate 5 times, state x: f32[4]:` before its body.
std::string iterate_heading(const ir::Program& program, const ir::Operator& op, const ir::RegionBody& region) {
  std::string states;
  const ir::Graph& body = program[region.graph];
  for (std::size_t i = 0; i < op.results.size(); ++i)
    states += fmt::format("{}{}: {}", i == 0 ? "" : ", ", body[body.inputs[i]].name, to_string(op.results[i]));
  std::int64_t trips = region.trips.size();
  return fmt::format("\niterate {} {}, with the state {}:\n", trips, trips == 1 ? "time" : "times", states);
}

// Which axes are sharded alike, and how far the windows of a block reach beyond it.
std::string factor_lines(const ir::Operator& op) {
  passes::Factors factors = passes::factors_of(op);
  std::string text = "  factors  " + to_string(factors) + "\n";
  for (const passes::TensorFactors& operand : factors.operands)
    for (std::size_t a = 0; a < operand.axes.size(); ++a)
      if (const passes::AxisFactors& axis = operand.axes[a]; axis.before != 0 || axis.after != 0)
        text += fmt::format("  halo   {} on axis {}: {} before a block, {} after it\n",
                            ir::operand_name(op, operand.tensor), a, plural(axis.before, "cell"), axis.after);
  return text;
}

// Every operation of a graph, and of the graphs of its iterates, once each.
void show_operators(const ir::Program& program, ir::GraphId graph, std::set<ir::OperatorId>& shown, std::string& text) {
  for (const ir::Operation& operation : program[graph].operations) {
    if (!shown.insert(operation.op).second) continue;
    const ir::Operator& op = program[operation.op];
    if (const ir::RegionBody* region = op.region()) {
      text += iterate_heading(program, op, *region);
      show_operators(program, region->graph, shown, text);
      continue;
    }
    text += "\n" + ir::print(program, op);
    text += factor_lines(op);
    for (const DimFacts& facts : sharding_facts(program, op)) text += "  shard  " + describe(op, facts) + "\n";
  }
}

// Each dim of a pack gets the same given size.
std::map<std::string, std::int64_t> single_sizes(const SourceOptions& source) {
  std::map<std::string, std::int64_t> dims;
  for (const auto& [name, sizes] : compile_options(source).dims) {
    if (sizes.size() != 1)
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{},
                               fmt::format("--dim {}={}: expected one size, or one per dim of a pack", name,
                                           fmt::join(sizes, ",")))};
    dims[name] = sizes[0];
  }
  return dims;
}

std::string show_one(Session& session, const ast::Module& module, const Signature& signature, FileId file,
                     const OpsOptions& options) {
  std::string text = heading(session.sources, signature) + "\n";
  if (!signature.doc.empty()) text += indented(signature.doc, "    ");
  SampleOptions sample_options{single_sizes(options.source), parse_parameters(options.parameters)};
  require_known(module, signature, sample_options);
  Sample sample = compile_sample(session, module, signature, file, options.file.empty(), sample_options);
  if (!sample.sizes.empty()) text += "\nwith " + sample.sizes + ":\n";
  ir::Program program = passes::inline_calls(sample.compiled.program, {}).program;
  std::set<ir::OperatorId> shown;
  show_operators(program, program.main, shown, text);
  return text;
}

int ops(Session& session, OpsOptions options) {
  // `std.NAME`, which a program writes if it has its own operator of that name.
  if (options.file.empty() && options.name.starts_with("std.")) options.name.erase(0, 4);
  Phase phase("describing operators");
  FileId file = options.file.empty() ? session.sources.add("std.tap", std::string(embedded::std_tap))
                                     : read_source(session, options.file);
  require_source(session, file);
  Diagnostics diagnostics;
  std::optional<ast::Module> module = parse(session.sources, file, {}, diagnostics);
  session.report(diagnostics);
  if (!module) return exit_code::wrong_program;
  std::vector<Signature> all = signatures(*module);
  if (options.name.empty()) {
    if (!options.source.dims.empty() || !options.parameters.empty())
      throw Failure{exit_code::wrong_command_line,
                    Diagnostic(Code::command_line, Span{}, "--dim and --param need the name of an operator")
                        .help("write `tapc ops NAME --dim n=8`; `tapc ops` lists the names")};
    session.print(all.empty() ? without_operators(*module, options.file) : list_all(all, *module));
    return exit_code::done;
  }
  std::string text;  // an operator and a monoid may have one name
  for (const Signature& signature : all)
    if (signature.name == options.name) text += show_one(session, *module, signature, file, options);
  for (const ast::MonoidDecl* monoid : monoids_of(*module))
    if (monoid->name.text == options.name)
      text += (text.empty() ? "" : "\n") + describe_monoid(session, *module, *monoid, file, options.file.empty(),
                                                           *compile_options(options.source).laws);
  if (!text.empty()) {
    session.print(text);
    return exit_code::done;
  }
  std::vector<std::string> names;
  for (const Signature& signature : all) names.push_back(signature.name);
  for (const ast::MonoidDecl* monoid : monoids_of(*module)) names.push_back(monoid->name.text);
  auto near = did_you_mean(options.name, names);
  if (is_builtin_reduction(options.name) || builtin_function(options.name))
    throw Failure{exit_code::wrong_command_line,
                  Diagnostic(Code::command_line, Span{},
                             fmt::format("`{}` is built into the language; `tapc ops` describes operators and monoids",
                                         options.name))
                      .help(is_builtin_reduction(options.name)
                                ? fmt::format("it is a reduction over variables: `{}[k] x[k]`", options.name)
                                : fmt::format("it is a function of cells: `{}(x[i])`", options.name))};
  throw Failure{exit_code::wrong_command_line,
                Diagnostic(Code::command_line, Span{},
                           fmt::format("unknown operator or monoid `{}` in {}", options.name,
                                       options.file.empty() ? "the standard library" : options.file))
                    .help(near ? "did you mean `" + *near + "`?" : "`tapc ops` lists all")};
}

}  // namespace

Action declare_ops(CLI::App& app) {
  auto options = std::make_shared<OpsOptions>();
  app.add_option("NAME", options->name, "The operator or monoid to describe; without it, list all");
  app.add_option("--file", options->file, "Use the operators of this file instead of the standard library");
  app.add_option("--dim", options->source.dims, "The size of a dim, or of each dim of a pack, NAME=SIZE (default 4)")
      ->allow_extra_args(false);
  app.add_option("--param", options->parameters, "The value of a parameter, NAME=VALUE; of an int pack, NAME=2,3")
      ->allow_extra_args(false);
  add_no_cache_option(app, options->source.no_cache);
  return [options](Session& session) { return ops(session, *options); };
}

}  // namespace tap::driver
