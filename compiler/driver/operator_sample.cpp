#include "compiler/driver/operator_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "compiler/driver/standard_library.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap::driver {
namespace {

constexpr std::size_t most_attempts = 1000;
constexpr std::size_t most_for_points = 40;  // attempts to find a sample that also has points

Failure wrong(const std::string& message, const std::string& help) {
  return {exit_code::wrong_command_line, Diagnostic(Code::command_line, Span{}, message).help(help)};
}

Failure unknown(const std::string& option, const std::string& name, const Signature& signature, const char* sort,
                const std::vector<std::string>& known) {
  auto near = did_you_mean(name, known);
  std::string list = known.empty() ? fmt::format("it has no {}s", sort)
                                   : fmt::format("its {}s are {}", sort, fmt::join(known, ", "));
  return wrong(fmt::format("{}: `{}` has no {} `{}`", option, signature.name, sort, name),
               near ? "did you mean `" + *near + "`?" : list);
}

template <class Number>
bool is_number(std::string_view text) {
  Number value{};
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

bool is_integer_list(std::string_view text) {
  while (true) {
    auto comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (!is_number<std::int64_t>(item)) return false;
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
}

void require_kind(const ast::Param& param, const std::string& value) {
  const std::string& kind = param.kind.text;
  auto refuse = [&](const std::string& expected, const std::vector<std::string>& choices) {
    auto near = did_you_mean(value, choices);
    throw wrong(
        fmt::format("--param {}={}: the parameter `{}` is {}", param.name.text, value, param.name.text, expected),
        near ? "did you mean `" + *near + "`?" : "");
  };
  if (param.pack) {
    if (!is_integer_list(value)) refuse("a list of integers, such as 2,3", {});
  } else if (kind == "int") {
    if (!is_number<std::int64_t>(value)) refuse("an integer", {});
  } else if (kind == "float") {
    if (!is_number<double>(value)) refuse("a number", {});
  } else if (kind == "bool") {
    if (value != "true" && value != "false") refuse("true or false", {"true", "false"});
  } else if (kind == "type") {
    std::vector<std::string> types = type_names();
    if (!element_type_named(value)) refuse(fmt::format("a type: {}", fmt::join(types, ", ")), types);
  }
}

// Number `nth` of the distinct integers for parameters without a default, so that `start` and `stop` differ.
std::vector<std::string> candidate_values(const ast::Param& param, bool counts_axes, std::int64_t nth) {
  if (param.pack) return {"4, 4", "1", "4", "2, 2", "1, 1", "", "1, 0", "0"};
  if (param.kind.text == "bool") return {"false", "true"};
  if (param.kind.text == "float") return {"1.0"};
  if (param.kind.text == "type") return {"f32"};
  if (counts_axes) return {"1", "0", "-1", "2", "-2"};
  return {std::to_string(nth + 2), "1", "2", "0", "4", "-1", "-2"};
}

// The value of a condition on ranks and parameters for a sample; empty if it depends on anything else.
class Conditions {
 public:
  Conditions(const ast::Module& module, const SampleSizes& sizes) : module_(module), sizes_(sizes) {}

  std::optional<std::int64_t> value(ast::ExprId id) const {
    const auto& node = module_[id].node;
    if (const auto* literal = std::get_if<ast::IntLiteral>(&node)) {
      auto magnitude = static_cast<std::int64_t>(literal->magnitude);
      return literal->negated ? -magnitude : magnitude;
    }
    if (const auto* name = std::get_if<ast::NameRef>(&node)) return parameter(name->name);
    if (const auto* call = std::get_if<ast::Call>(&node)) return rank(*call);
    if (const auto* unary = std::get_if<ast::Unary>(&node)) {
      auto operand = value(unary->operand);
      if (!operand) return std::nullopt;
      return unary->op == ast::UnaryOp::negate ? -*operand : !*operand;
    }
    const auto* binary = std::get_if<ast::Binary>(&node);
    if (!binary) return std::nullopt;
    auto left = value(binary->left), right = value(binary->right);
    if (!left || !right) return std::nullopt;
    return of(binary->op, *left, *right);
  }

 private:
  static std::optional<std::int64_t> of(ast::BinaryOp op, std::int64_t a, std::int64_t b) {
    switch (op) {
      case ast::BinaryOp::add: return a + b;
      case ast::BinaryOp::sub: return a - b;
      case ast::BinaryOp::equal: return a == b;
      case ast::BinaryOp::not_equal: return a != b;
      case ast::BinaryOp::less: return a < b;
      case ast::BinaryOp::less_equal: return a <= b;
      case ast::BinaryOp::greater: return a > b;
      case ast::BinaryOp::greater_equal: return a >= b;
      case ast::BinaryOp::logical_and: return a && b;
      case ast::BinaryOp::logical_or: return a || b;
      default: return std::nullopt;
    }
  }

  std::optional<std::int64_t> parameter(const std::string& name) const {
    auto given = sizes_.parameters.find(name);
    if (given == sizes_.parameters.end() || !is_number<std::int32_t>(given->second)) return std::nullopt;
    return std::stoll(given->second);
  }

  std::optional<std::int64_t> rank(const ast::Call& call) const {
    if (call.callee.back().text != "rank" || call.args.size() != 1) return std::nullopt;
    const auto& node = module_[call.args[0].value].node;
    const auto* name = std::get_if<ast::NameRef>(&node);
    const auto* pack = std::get_if<ast::PackRef>(&node);
    auto found = sizes_.ranks.find(name ? name->name : pack ? pack->name : "");
    return found == sizes_.ranks.end() ? std::nullopt : std::optional(found->second);
  }

  const ast::Module& module_;
  const SampleSizes& sizes_;
};

// The parameters that a condition compares with the rank of a pack: axes, counted from the front or the back.
bool counts_axes(const SourceMap& sources, const Signature& signature, const std::string& parameter) {
  for (const ast::WhereClause& where : *signature.where) {
    std::string_view text = sources.text(where.span);
    if (text.find("rank(") == text.npos) continue;
    auto is_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); };
    for (auto at = text.find(parameter); at != text.npos; at = text.find(parameter, at + 1)) {
      std::size_t end = at + parameter.size();
      if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
    }
  }
  return false;
}

// Whether the packs agree with the conditions on the parameters: `a = 1` requires a `p` of one dim before it.
bool agrees(const ast::Module& module, const Signature& signature, const SampleSizes& sizes) {
  Conditions conditions(module, sizes);
  return std::all_of(signature.where->begin(), signature.where->end(), [&](const ast::WhereClause& where) {
    return !where.condition || conditions.value(*where.condition) != 0;
  });
}

// All combinations, likely ones first.
std::vector<SampleSizes> attempts(const SourceMap& sources, const ast::Module& module, const Signature& signature,
                                  const SampleOptions& options) {
  std::vector<SampleSizes> list{{options.dims, {}, options.parameters}};
  auto multiply = [&](auto values, auto assign) {
    std::vector<SampleSizes> all;
    for (const auto& value : values)
      for (SampleSizes attempt : list) {
        if (all.size() == most_attempts) break;
        assign(attempt, value);
        all.push_back(std::move(attempt));
      }
    list = std::move(all);
  };
  for (const std::string& pack : size_names(module, signature).packs)
    multiply(std::vector<std::int64_t>{1, 2, 0}, [&](SampleSizes& a, std::int64_t rank) { a.ranks[pack] = rank; });
  std::int64_t nth = 0;
  for (const ast::Param& param : *signature.params) {
    if (param.default_value || options.parameters.contains(param.name.text)) continue;
    bool axes = counts_axes(sources, signature, param.name.text);
    multiply(candidate_values(param, axes, nth),
             [&](SampleSizes& a, const std::string& value) { a.parameters[param.name.text] = value; });
    if (!axes && param.kind.text == "int") ++nth;
  }
  std::stable_partition(list.begin(), list.end(),
                        [&](const SampleSizes& sizes) { return agrees(module, signature, sizes); });
  return list;
}

bool has_points(const ir::Program& program) {
  for (const ir::Operator& op : program.operators)
    for (const ir::IndexDim& dim : op.dims)
      if (dim.range.size() == 0) return false;
  return true;
}

// Whether the sizes, types or parameters are to blame, not the operator.
bool is_unfitting(const Diagnostic& diagnostic) {
  static constexpr Code codes[] = {Code::condition_not_met, Code::shape_mismatch,    Code::rank_mismatch,
                                   Code::bad_parameter,     Code::bad_size,          Code::pack_ambiguous,
                                   Code::dim_unbound,       Code::dim_not_solvable,  Code::dim_conflict,
                                   Code::overflow,          Code::wrong_kind_of_name};
  return std::find(std::begin(codes), std::end(codes), diagnostic.code) != std::end(codes);
}

const Diagnostic& first_error(const Diagnostics& diagnostics) {
  return *std::find_if(diagnostics.all().begin(), diagnostics.all().end(),
                       [](const Diagnostic& d) { return d.severity() == Severity::error; });
}

// The sample's names are the operator's with a prefix, except the operator's own name; a user's name may also start
// with the prefix.
std::string unprefixed_names(std::string message, const std::string& callee) {
  static constexpr std::string_view prefix = "ops_";
  auto of_a_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = message.find(prefix); at != message.npos; at = message.find(prefix, at + 1)) {
    std::size_t end = at;
    while (end < message.size() && of_a_name(message[end])) ++end;
    bool inside = at > 0 && of_a_name(message[at - 1]);
    if (!inside && message.compare(at, end - at, callee) != 0) message.erase(at, prefix.size());
  }
  return message;
}

Failure no_legal_sizes(const Signature& signature, const SampleOptions& options, const Diagnostic& reason) {
  std::string given, why = unprefixed_names(reason.message, signature.name);
  for (const auto& [name, size] : options.dims) given += fmt::format(" --dim {}={}", name, size);
  for (const auto& [name, value] : options.parameters) given += fmt::format(" --param {}={}", name, value);
  if (const std::string subject = "`" + signature.name + "` requires "; !given.empty() && why.starts_with(subject)) {
    why.replace(0, subject.size(), "it requires ");
    if (options.dims.size() + options.parameters.size() == 1)  // its value is in the message already
      for (const auto& [name, size] : options.dims)
        if (const std::string here = fmt::format("; here {} is {}", name, size); why.ends_with(here))
          why.resize(why.size() - here.size());
  }
  Failure failure =
      given.empty() ? wrong(fmt::format("found no sizes for which `{}` is legal: {}", signature.name, why),
                            "give some with --dim NAME=SIZE and --param NAME=VALUE")
                    : wrong(fmt::format("`{}` is not legal for `{}`: {}", given.substr(1), signature.name, why), "");
  for (const std::string& note : reason.notes) failure.diagnostic.note(note);
  return failure;
}

}  // namespace

std::map<std::string, std::string> parse_parameters(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> parameters;
  for (const std::string& text : texts) {
    auto equals = text.find('=');
    if (equals == text.npos || equals == 0)
      throw wrong("`" + text + "` is not a valid value for --param", "write --param NAME=VALUE");
    auto [at, fresh] = parameters.emplace(text.substr(0, equals), text.substr(equals + 1));
    if (!fresh && at->second != text.substr(equals + 1))
      throw wrong(
          fmt::format("--param gives `{}` two values, {} and {}", at->first, at->second, text.substr(equals + 1)), "");
  }
  return parameters;
}

void require_known(const ast::Module& module, const Signature& signature, const SampleOptions& options) {
  SizeNames sizes = size_names(module, signature);
  std::vector<std::string> dims = sizes.dims, parameters;
  dims.insert(dims.end(), sizes.packs.begin(), sizes.packs.end());
  for (const ast::Param& param : *signature.params) parameters.push_back(param.name.text);
  for (const auto& [name, size] : options.dims)
    if (std::find(dims.begin(), dims.end(), name) == dims.end())
      throw unknown(fmt::format("--dim {}={}", name, size), name, signature, "dim", dims);
  for (const auto& [name, value] : options.parameters) {
    auto param = std::find_if(signature.params->begin(), signature.params->end(),
                              [&](const ast::Param& p) { return p.name.text == name; });
    if (param == signature.params->end())
      throw unknown(fmt::format("--param {}={}", name, value), name, signature, "parameter", parameters);
    require_kind(*param, value);
  }
}

Sample compile_sample(Session& session, const ast::Module& module, const Signature& signature, FileId file,
                      bool library, const SampleOptions& options) {
  CompileOptions compile_options;
  compile_options.program = sample_program_name;
  compile_options.standard_library = embedded::std_tap;
  compile_options.laws = options.laws;
  std::optional<Diagnostics> unfitting, illegal;  // of the first attempts that failed in this way
  std::optional<Sample> without_points;           // the first legal one with an index over an empty range
  std::size_t tried = 0;
  for (const SampleSizes& attempt : attempts(session.sources, module, signature, options)) {
    if (without_points && ++tried > most_for_points) break;
    SampleProgram program =
        write_sample(session.sources, module, signature, attempt, library ? "std." + signature.name : signature.name);
    std::string text = library ? "use std\n" : session.sources.file(file).text() + "\n";
    FileId sample = session.sources.add(session.sources.file(file).path(), text + program.text);
    Diagnostics diagnostics;
    std::optional<Compiled> compiled = compile(session.sources, sample, compile_options, diagnostics);
    if (compiled && !diagnostics.has_errors()) {
      Sample sample{std::move(*compiled), program.sizes};
      if (has_points(sample.compiled.program)) return sample;
      if (!without_points) without_points = std::move(sample);
      continue;
    }
    auto& kept = is_unfitting(first_error(diagnostics)) ? unfitting : illegal;
    if (!kept) kept = std::move(diagnostics);
  }
  if (without_points) return std::move(*without_points);
  if (!illegal) throw no_legal_sizes(signature, options, first_error(*unfitting));
  session.report(*illegal);
  throw Reported{exit_code::wrong_program};
}

}  // namespace tap::driver
