#include "compiler/frontend/elaborate/signature.h"

#include "compiler/frontend/cells/where_conditions.h"
#include "compiler/frontend/elaborate/foreign_types.h"
#include "compiler/frontend/elaborate/generics.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "support/check.h"

namespace tap {

Signature signature_of(const Definition& definition) {
  if (auto* op = definition.as<ast::OpDecl>()) return {op->name, op->params, op->inputs, op->results, op->where};
  auto* outside = definition.as<ast::ExternDecl>();
  TAP_CHECK(outside, "an operator's definition");
  return {outside->name, outside->params, outside->inputs, outside->results, outside->where};
}

namespace {

// Where to insert a condition: after the others, or after the `)` of the results.
std::optional<Span> end_of_signature(const Elaboration& elaboration, const Signature& signature) {
  Span last = signature.where.empty() ? signature.results.back().type.span : signature.where.back().span;
  if (!signature.where.empty()) return Span{last.file, last.end, last.end};
  std::string_view text = elaboration.sources.file(last.file).text();
  std::size_t close = text.find_first_not_of(" \t\r\n", last.end);
  if (close == std::string_view::npos || text[close] != ')') return std::nullopt;
  auto at = static_cast<std::uint32_t>(close + 1);
  return Span{last.file, at, at};
}

[[noreturn]] void no_class(Elaboration& elaboration, const Signature& signature, const ast::Name& element) {
  Diagnostic d(Code::generic_without_where, element.span,
               quoted(element.text) + " is not a built-in type; a generic type needs a `where`");
  offer_type(d, element.text, element.span);
  if (d.help_text.empty()) {
    d.help("add `where " + element.text + ": number` after the results");
    if (auto end = end_of_signature(elaboration, signature))
      d.fix(*end, (signature.where.empty() ? " where " : ", ") + element.text + ": number");
  }
  elaboration.fail(std::move(d));
}

// A float is not converted to an integer: instead, the argument that made the generic an integer becomes a float.
void convert_the_other(const Elaboration& elaboration, const TypeEntity* generic, ElementType actual,
                       ElementType expected, Diagnostic& d) {
  std::string to(name_of(actual));
  if (!generic || !generic->span.valid()) {
    d.help("pass " + std::string(name_of(expected)) + ": convert the float with `round` or `floor` first");
    return;
  }
  std::string other = source_of(elaboration, generic->span), fix_text = to + "(" + other + ")";
  d.note("integer literals and indices default to i64; " + quoted(to + "(1)") + " in its equation makes it " + to);
  d.help("convert the other argument instead, which is exact: " + quoted(fix_text));
  if (other == elaboration.sources.text(generic->span)) d.fix(generic->span, fix_text);
}

}  // namespace

void bind_element(Elaboration& elaboration, Env& callee, const Signature& signature, const ast::TensorParam& input,
                  const TypedArgument& given) {
  const ast::Name& element = input.type.element;
  ElementType actual = given.type.element;
  std::optional<ElementType> expected = try_type(callee, element.text);
  if (!expected) {
    if (!class_clause(signature.where, element.text)) no_class(elaboration, signature, element);
    callee.names[element.text] = TypeEntity{actual, given.span};
    return;
  }
  if (*expected == actual) return;
  Diagnostic d(Code::type_mismatch, given.span,
               "the argument " + quoted(input.name.text) + " of " + quoted(signature.name.text) + " is " +
                   std::string(name_of(*expected)) + "; got " + std::string(name_of(actual)));
  if (auto* generic = callee.find_as<TypeEntity>(element.text))
    d.label(generic->span,
            quoted(element.text) + " is " + std::string(name_of(*expected)) + " because of this argument");
  else d.label(element.span, "declared here");
  if (is_float(actual) && is_integer(*expected)) {
    convert_the_other(elaboration, callee.find_as<TypeEntity>(element.text), actual, *expected, d);
    elaboration.fail(std::move(d));
  }
  std::string source = source_of(elaboration, given.span);
  d.help("convert it: " + quoted(std::string(name_of(*expected)) + "(" + source + ")"));
  if (given.span.valid() && source == elaboration.sources.text(given.span))
    d.fix(given.span, std::string(name_of(*expected)) + "(" + source + ")");
  elaboration.fail(std::move(d));
}

void bind_signature(Elaboration& elaboration, Env& callee, const Signature& signature, const Env& caller,
                    const std::vector<ast::ParamArg>& params, const std::vector<TypedArgument>& given, Span call_span) {
  if (given.size() != signature.inputs.size())
    elaboration.fail(Diagnostic(Code::wrong_argument_count, call_span,
                                quoted(signature.name.text) + " takes " + std::to_string(signature.inputs.size()) +
                                    " arguments; got " + std::to_string(given.size()))
                         .label(signature.name.span, "declared here"));
  bind_params(elaboration, callee, signature, caller, params, call_span);
  // Before the shapes: a step of 0 is reported as such, not as an unsolvable size.
  check_decided_conditions(elaboration, callee, signature.where, signature.name.text, call_span);
  std::vector<ShapeEquation> equations;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const ast::TensorParam& input = signature.inputs[i];
    bind_element(elaboration, callee, signature, input, given[i]);
    equations.push_back(
        {&input.type, given[i].type.shape, "argument " + quoted(input.name.text), given[i].span, false, given[i].cell});
  }
  unify_shapes(elaboration, callee, std::move(equations), signature.where, signature.name.text, call_span);
  check_where(elaboration, callee, signature, call_span);
}

}  // namespace tap
