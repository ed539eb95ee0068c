#include "compiler/frontend/elaborate/unknown_names.h"

#include <algorithm>

#include "compiler/frontend/elaborate/foreign_types.h"
#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/numpy_names.h"

namespace tap {
namespace {

struct Describe {
  std::string operator()(const DimEntity&) const { return "a dim"; }
  std::string operator()(const PackEntity&) const { return "a pack of dims"; }
  std::string operator()(const IntEntity&) const { return "an int parameter"; }
  std::string operator()(const FloatEntity&) const { return "a float parameter"; }
  std::string operator()(const BoolEntity&) const { return "a bool parameter"; }
  std::string operator()(const TypeEntity& type) const { return "the type " + std::string(name_of(type.type)); }
  std::string operator()(const CounterEntity&) const { return "a counter"; }
  std::string operator()(const VarEntity&) const { return "an index variable"; }
  std::string operator()(const VarPackEntity&) const { return "a pack of index variables"; }
  std::string operator()(const TensorEntity& tensor) const { return "a tensor " + to_string(tensor.type); }
  std::string operator()(const ThunkEntity&) const { return "the value of a cell"; }
  std::string operator()(const StateEntity&) const { return "a state of this monoid"; }
  std::string operator()(const FoldOperandEntity&) const { return "an operand of this fold"; }
};

// Constants of other languages.
constexpr std::pair<std::string_view, std::string_view> mathematical_constants[] = {{"pi", "3.141592653589793"},
                                                                                    {"PI", "3.141592653589793"},
                                                                                    {"M_PI", "3.141592653589793"},
                                                                                    {"tau", "6.283185307179586"}};

// Empty for an unknown name.
std::string constant_of(std::string_view name) {
  for (auto [constant, digits] : mathematical_constants)
    if (name == constant) return std::string(digits);
  return "";
}

void offer_near(Diagnostic& d, const std::string& name, Span span, const std::vector<std::string>& known) {
  if (auto near = did_you_mean(name, known)) d.help("did you mean " + quoted(*near) + "?").fix(span, *near);
}

// The nearest name, or the list of all.
void offer_near_or_list(Diagnostic& d, const std::string& name, Span span, const std::vector<std::string>& known,
                        const std::string& noun) {
  constexpr std::size_t most = 8;
  offer_near(d, name, span, known);
  if (!d.help_text.empty() || known.empty() || known.size() > most) return;
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + quoted(one);
  d.help("the " + noun + " here " + (known.size() == 1 ? "is " : "are ") + list);
}

// Before the first declaration and its documentation.
Span use_insertion_point(const Elaboration& elaboration, const ast::Module& module) {
  std::string_view text = elaboration.sources.file(module.file).text();
  std::uint32_t begin = module.declarations.front().span.begin;
  auto line_start = [&](std::uint32_t at) {
    while (at > 0 && text[at - 1] != '\n' && text[at - 1] != '\r') --at;
    return at;
  };
  auto is_blank = [&](std::uint32_t from, std::uint32_t to) {
    return text.substr(from, to - from).find_first_not_of(" \t") == std::string_view::npos;
  };
  std::uint32_t at = line_start(begin);
  if (!is_blank(at, begin)) return {module.file, begin, begin};
  while (at > 0) {
    std::uint32_t above = line_start(at - 1);
    std::size_t first = text.find_first_not_of(" \t", above);
    if (first >= at || !text.substr(first).starts_with("///")) break;
    at = above;
  }
  return {module.file, at, at};
}

}  // namespace

std::vector<std::string> names_in(const Env& env, bool tensors_only) {
  std::vector<std::string> names;
  for (const Env* e = &env; e; e = e->parent)
    for (const auto& [name, entity] : e->names)
      if (!tensors_only || std::holds_alternative<TensorEntity>(entity)) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string description(const Entity& entity) { return std::visit(Describe{}, entity); }

Diagnostic undefined(const Env& env, const std::string& name, Span span) {
  Diagnostic d(Code::unknown_name, span, quoted(name) + " is not defined");
  if (name == "True" || name == "False") {
    std::string word = name == "True" ? "true" : "false";
    return std::move(d.help("write " + quoted(word)).fix(span, word));
  }
  if (std::string digits = constant_of(name); !digits.empty())
    return std::move(d.help("write the number: " + quoted(digits)).fix(span, digits));
  std::vector<std::string> known = names_in(env);
  offer_near_or_list(d, name, span, known, known.size() == 1 ? "only name" : "names");
  return d;
}

Diagnostic not_a_tensor(const Env& env, const std::string& name, Span span) {
  const Entity* other = env.find(name);
  Diagnostic d(other ? Code::wrong_kind_of_name : Code::unknown_name, span,
               quoted(name) + (other ? " is " + description(*other) + ", not a tensor" : " is not defined"));
  std::string digits = other ? "" : constant_of(name);
  if (!digits.empty()) return std::move(d.help("write the number: " + quoted(digits)));
  std::vector<std::string> known = names_in(env, true);
  offer_near_or_list(d, name, span, known, known.size() == 1 ? "only tensor" : "tensors");
  return d;
}

Diagnostic not_a_member(const Env& env, const std::string& text, const ast::Member& member, Span span) {
  auto* object = std::get_if<ast::NameRef>(&env[member.object].node);
  std::string digits = object && !env.find(object->name) ? constant_of(member.member.text) : "";
  if (digits.empty()) return Diagnostic(Code::wrong_kind_of_name, span, quoted(text) + " is not a value");
  return Diagnostic(Code::unknown_name, span, quoted(text) + " is not defined")
      .help("write the number: " + quoted(digits))
      .fix(span, digits);
}

void offer_definition(Elaboration& elaboration, const Env& env, Sort sort, const ast::Name& name, Diagnostic& d) {
  auto known = elaboration.definitions.names(*env.scope, sort);
  if (std::string fix_text = sort == Sort::op ? instead_of_numpy(name.text) : std::string(); !fix_text.empty()) {
    bool has_std = std::find(known.begin(), known.end(), "mean_all") != known.end();
    bool of_std = fix_text.find("_all(") != std::string::npos || fix_text.find("_like(") != std::string::npos;
    d.help(fix_text + (of_std && !has_std ? ", with `use std` at the top of the file" : ""));
    return;
  }
  auto monoids = elaboration.definitions.names(*env.scope, Sort::monoid);
  if (sort == Sort::op && std::find(monoids.begin(), monoids.end(), name.text) != monoids.end()) {
    d.help(quoted(name.text) + " is a monoid: it reduces over variables, as in " + quoted(name.text + "[i] (x[i])"));
    return;
  }
  if (sort == Sort::op && is_builtin_reduction(name.text)) {
    d.help(quoted(name.text) + " is a reduction: name its variables, " + quoted("s[] = " + name.text + "[i] x[i]"));
    return;
  }
  if (std::find(known.begin(), known.end(), name.text) != known.end()) {
    d.help(quoted(name.text) + " is defined here under its own name: omit the prefix before the dot");
    return;
  }
  bool own_file = env.module && env.module->file == env.scope->file && !env.module->declarations.empty();
  if (own_file && elaboration.definitions.standard_has(sort, name.text)) {
    d.help(quoted(name.text) + " is in the standard library: write `use std` at the top of the file")
        .fix(use_insertion_point(elaboration, *env.module), "use std\n");
    return;
  }
  if (sort == Sort::op)
    for (auto& builtin : builtin_function_names()) known.push_back(builtin);
  std::sort(known.begin(), known.end());
  if (sort == Sort::op && offer_foreign_type(d, name.text, name.span)) return;
  offer_near(d, name.text, name.span, known);
  if (!d.help_text.empty()) return;
  if (sort == Sort::op) d.help("`tapc ops` lists the operators of the standard library");
  if (!own_file) return;
  if (auto near = did_you_mean(name.text, elaboration.definitions.standard_names(sort)))
    d.help("did you mean " + quoted(*near) + " of the standard library? It needs `use std` at the top of the file")
        .fix(use_insertion_point(elaboration, *env.module), "use std\n")
        .fix(name.span, *near);
}

namespace {

// A number, a truth value, or the name of a size, a parameter or a type: a possible value of a parameter.
bool is_constant(const Env& env, ast::ExprId id) {
  const auto& node = env[id].node;
  if (auto* unary = std::get_if<ast::Unary>(&node)) return is_constant(env, unary->operand);
  if (auto* name = std::get_if<ast::NameRef>(&node)) {
    const Entity* entity = env.find(name->name);
    return entity ? !std::holds_alternative<TensorEntity>(*entity) && !std::holds_alternative<VarEntity>(*entity) &&
                        !std::holds_alternative<ThunkEntity>(*entity)
                  : element_type_named(name->name).has_value();
  }
  return std::holds_alternative<ast::IntLiteral>(node) || std::holds_alternative<ast::FloatLiteral>(node) ||
         std::holds_alternative<ast::BoolLiteral>(node);
}

// sum_axis(x, 0) probably means sum_axis<a = 0>(x): the constants after the tensors, as parameters in order.
std::optional<std::string> with_parameters(const Elaboration& elaboration, const Env& env, const Signature& signature,
                                           const ast::Call& call) {
  std::string parameters, arguments, callee;
  auto append = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  auto param = signature.params.begin();
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    std::string text(elaboration.sources.text(env[call.args[i].value].span));
    if (i < signature.inputs.size()) {
      append(arguments, text);
      continue;
    }
    if (!is_constant(env, call.args[i].value) || param == signature.params.end()) return std::nullopt;
    append(parameters, param->pack ? text : param->name.text + " = " + text);
    if (!param->pack) ++param;
  }
  for (const auto& part : call.callee) callee += (callee.empty() ? "" : ".") + part.text;
  return callee + "<" + parameters + ">(" + arguments + ")";
}

}  // namespace

namespace {

// x.reshape(2, 6) as reshape<2, 6>(x): the tensor is the first argument, and the constants after the others are
// parameters.
std::string as_function(const Elaboration& elaboration, const Env& env, const Signature& signature,
                        const ast::Call& call) {
  std::string parameters, arguments = call.callee[0].text;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    bool parameter = i + 1 >= signature.inputs.size() && is_constant(env, call.args[i].value);
    std::string& list = parameter ? parameters : arguments;
    list += (list.empty() ? "" : ", ") + std::string(elaboration.sources.text(env[call.args[i].value].span));
  }
  return call.callee.back().text + (parameters.empty() ? "" : "<" + parameters + ">") + "(" + arguments + ")";
}

}  // namespace

bool offer_plain_call(Elaboration& elaboration, const Env& env, const ast::Call& call, Span span, Diagnostic& d) {
  if (call.callee.size() != 2 || call.has_params) return false;
  const ast::Name &owner = call.callee[0], &name = call.callee[1];
  if (builtin_function(name.text) && !env.find(owner.text)) {
    d.help(quoted(name.text) + " is built in: omit " + quoted(owner.text + "."));
    d.fix({owner.span.file, owner.span.begin, name.span.begin}, "");
    return true;
  }
  if (!env.find_as<TensorEntity>(owner.text)) return false;
  const Definition* definition = elaboration.definitions.find(*env.scope, Sort::op, name);
  if (!definition) return false;
  std::string fix_text = as_function(elaboration, env, signature_of(*definition), call);
  d.help("call the operator as a function: " + quoted(fix_text)).fix(span, fix_text);
  return true;
}

void offer_parameters(const Elaboration& elaboration, const Env& env, const Signature& signature, const ast::Call& call,
                      Span span, Diagnostic& d) {
  if (signature.params.empty() || call.args.size() <= signature.inputs.size()) return;
  if (auto fix_text = call.has_params ? std::nullopt : with_parameters(elaboration, env, signature, call)) {
    d.help("parameters go in `<…>`, not among the arguments: " + quoted(*fix_text)).fix(span, *fix_text);
    return;
  }
  std::string parameters, arguments;
  for (const auto& param : signature.params)
    parameters +=
        (parameters.empty() ? "" : ", ") + param.name.text + (param.pack ? ".." : "") + ": " + param.kind.text;
  for (const auto& input : signature.inputs) arguments += (arguments.empty() ? "" : ", ") + input.name.text;
  d.help("parameters go in `<…>`, not among the arguments: " +
         quoted(signature.name.text + "<" + parameters + ">(" + arguments + ")"));
}

}  // namespace tap
