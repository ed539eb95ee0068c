#include "compiler/frontend/elaborate/generics.h"

#include <algorithm>
#include <array>

#include "compiler/frontend/elaborate/foreign_types.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {
namespace {

struct NamedClass {
  std::string_view name;
  TypeClass type_class;
};
constexpr auto classes = std::to_array<NamedClass>({{"any", TypeClass::any},
                                                    {"number", TypeClass::number},
                                                    {"float", TypeClass::floating},
                                                    {"int", TypeClass::integer}});

}  // namespace

const ast::WhereClause* class_clause(const std::vector<ast::WhereClause>& where, const std::string& generic) {
  for (const auto& clause : where)
    if (clause.type_name && clause.type_name->text == generic) return &clause;
  return nullptr;
}

TypeClass class_of(Elaboration& elaboration, const ast::WhereClause& clause) {
  auto known = std::find_if(classes.begin(), classes.end(),
                            [&](const NamedClass& c) { return c.name == clause.type_class->text; });
  if (known != classes.end()) return known->type_class;
  const ast::Name& name = *clause.type_class;
  elaboration.fail(with_near_name(
      Diagnostic(Code::unknown_name, name.span,
                 "unknown type class " + quoted(name.text) + "; the classes are number, float, int and any"),
      name.span, name.text, {"number", "float", "int", "any"}));
}

void fail_without_where(Elaboration& elaboration, const ast::Name& element, const std::string& after) {
  Diagnostic d(Code::generic_without_where, element.span,
               quoted(element.text) + " is not a built-in type; a generic type needs a `where`");
  offer_type(d, element.text, element.span);
  if (d.help_text.empty()) d.help("add `where " + element.text + ": number` after " + after);
  elaboration.fail(std::move(d));
}

void check_class(Elaboration& elaboration, const Env& env, const ast::WhereClause& clause, const std::string& owner,
                 const std::string& part, Span use) {
  TypeClass required = class_of(elaboration, clause);
  auto type = try_type(env, clause.type_name->text);
  if (!type)
    elaboration.fail(Diagnostic(Code::unknown_name, clause.type_name->span,
                                "the generic " + quoted(clause.type_name->text) + " is not the type of any " + part));
  if (belongs_to(*type, required)) return;
  elaboration.fail(Diagnostic(Code::condition_not_met, use,
                              quoted(owner) + " requires " + clause.type_name->text + ": " + clause.type_class->text +
                                  "; got " + std::string(name_of(*type)))
                       .label(clause.span, "required here"));
}

}  // namespace tap
