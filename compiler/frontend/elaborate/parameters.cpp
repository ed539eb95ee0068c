// Binds the <…> parameters of an operator: by name, by position, by default; an int pack takes the remaining
// positions.
#include "compiler/frontend/cells/float_values.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"

namespace tap {
namespace {

// f<1.5> for an int, f<1> for a bool: reports the kind of the parameter.
void refuse_other_literal(Elaboration& elaboration, const ast::Param& param, const ast::Expr& value) {
  bool of_int = param.kind.text == "int", of_bool = param.kind.text == "bool";
  auto* number = std::get_if<ast::IntLiteral>(&value.node);
  bool fraction = std::holds_alternative<ast::FloatLiteral>(value.node);
  bool truth = std::holds_alternative<ast::BoolLiteral>(value.node);
  if (!(of_int && (fraction || truth)) && !(of_bool && (fraction || number))) return;
  Diagnostic d(Code::bad_parameter, value.span,
               "the parameter " + quoted(param.name.text) + " must be " +
                   (of_int ? "an integer" : "`true`, `false` or a condition") + "; got " +
                   quoted(source_of(elaboration, value.span)));
  if (number && number->magnitude <= 1) {
    std::string fix_text = number->magnitude == 1 ? "true" : "false";
    d.help("write " + quoted(fix_text)).fix(value.span, fix_text);
  }
  elaboration.fail(std::move(d));
}

void bind_param(Elaboration& elaboration, Env& callee, const ast::Param& param, const Env& from, ast::ExprId value) {
  Span span = from[value].span;
  const std::string& kind = param.kind.text;
  refuse_other_literal(elaboration, param, from[value]);
  if (kind == "int") {
    callee.names[param.name.text] = IntEntity{eval_size(elaboration, from, value), span};
  } else if (kind == "float") {
    callee.names[param.name.text] = FloatEntity{eval_float(elaboration, from, value), span};
  } else if (kind == "bool") {
    callee.names[param.name.text] = BoolEntity{eval_condition(elaboration, from, value), span};
  } else if (kind == "type") {
    auto* name = std::get_if<ast::NameRef>(&from[value].node);
    if (!name)
      elaboration.fail(Diagnostic(Code::bad_parameter, span,
                                  "the parameter " + quoted(param.name.text) +
                                      " must be a type, for example `f32`; got " +
                                      quoted(source_of(elaboration, span))));
    callee.names[param.name.text] = TypeEntity{eval_type(elaboration, from, {name->name, span}), span};
  }
}

// The pack of dims that a positional argument such as `e..` forwards, if it is one.
const PackEntity* passed_pack(const Env& env, ast::ExprId value) {
  auto* ref = std::get_if<ast::PackRef>(&env[value].node);
  return ref ? env.find_as<PackEntity>(ref->name) : nullptr;
}

}  // namespace

void check_params(Elaboration& elaboration, const Signature& signature) {
  for (std::size_t i = 0; i < signature.params.size(); ++i) {
    const auto& param = signature.params[i];
    const std::string& kind = param.kind.text;
    if (param.pack ? kind != "int" : kind != "int" && kind != "float" && kind != "bool" && kind != "type")
      elaboration.fail(
          with_near_name(Diagnostic(Code::bad_parameter, param.kind.span,
                                    (param.pack ? "a pack of parameters must be of kind int; got "
                                                : "a parameter must be of kind int, float, bool or type; got ") +
                                        quoted(kind)),
                         param.kind.span, kind, {"int", "float", "bool", "type"}));
    for (std::size_t k = 0; k < i; ++k) {
      const ast::Name &name = signature.params[i].name, &earlier = signature.params[k].name;
      if (name.text == earlier.text)
        elaboration.fail(Diagnostic(Code::duplicate_name, name.span,
                                    quoted(signature.name.text) + " has the parameter " + quoted(name.text) + " twice")
                             .label(earlier.span, "first declared here"));
    }
  }
}

void bind_params(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                 const std::vector<ast::ParamArg>& given, Span call_span) {
  check_params(elaboration, signature);
  std::vector<const ast::ParamArg*> positional;
  std::unordered_map<std::string, const ast::ParamArg*> named;
  for (const auto& arg : given) {
    if (!arg.name) {
      positional.push_back(&arg);
      continue;
    }
    bool known = false;
    for (const auto& param : signature.params) known |= param.name.text == arg.name->text;
    if (!known) {
      std::vector<std::string> names;
      for (const auto& param : signature.params) names.push_back(param.name.text);
      elaboration.fail(
          with_near_name(Diagnostic(Code::bad_parameter, arg.name->span,
                                    quoted(signature.name.text) + " has no parameter " + quoted(arg.name->text)),
                         arg.name->span, arg.name->text, names));
    }
    if (!named.emplace(arg.name->text, &arg).second)
      elaboration.fail(Diagnostic(Code::bad_parameter, arg.name->span,
                                  "the parameter " + quoted(arg.name->text) + " is given twice"));
  }
  std::size_t next = 0;
  for (const auto& param : signature.params) {
    auto by_name = named.find(param.name.text);
    if (param.pack) {
      PackEntity pack{{}, call_span};
      while (by_name == named.end() && next < positional.size()) {
        ast::ExprId value = positional[next++]->value;
        if (auto* passed = passed_pack(caller, value))
          pack.sizes.insert(pack.sizes.end(), passed->sizes.begin(), passed->sizes.end());
        else pack.sizes.push_back(eval_size(elaboration, caller, value));
      }
      if (by_name != named.end()) {
        if (auto* passed = passed_pack(caller, by_name->second->value)) pack.sizes = passed->sizes;
        else pack.sizes.push_back(eval_size(elaboration, caller, by_name->second->value));
      }
      callee.names[param.name.text] = std::move(pack);
    } else if (by_name != named.end()) {
      bind_param(elaboration, callee, param, caller, by_name->second->value);
    } else if (next < positional.size()) {
      bind_param(elaboration, callee, param, caller, positional[next++]->value);
    } else if (param.default_value) {
      bind_param(elaboration, callee, param, callee, *param.default_value);
    } else {
      elaboration.fail(Diagnostic(Code::bad_parameter, call_span,
                                  quoted(signature.name.text) + " needs its parameter " + quoted(param.name.text) +
                                      " (" + param.kind.text + ")")
                           .label(param.name.span, "declared here, without a default")
                           .help("write " + quoted(signature.name.text + "<" + param.name.text + " = …>(…)")));
    }
  }
  if (next < positional.size())
    elaboration.fail(Diagnostic(Code::bad_parameter, caller[positional[next]->value].span,
                                quoted(signature.name.text) + " has " + std::to_string(signature.params.size()) +
                                    " parameters; got " + std::to_string(positional.size())));
}

}  // namespace tap
