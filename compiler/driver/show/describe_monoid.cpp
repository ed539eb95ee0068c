#include "compiler/driver/show/describe_monoid.h"

#include <fmt/format.h>

#include <map>

#include "compiler/driver/sample_program.h"
#include "compiler/driver/standard_library.h"
#include "compiler/frontend/elaborate/compile.h"
#include "support/element_type.h"

namespace tap::driver {
namespace {

// The types of its generics in the sample: f32, or i32 for integers.
std::map<std::string, std::string> types_of(const ast::MonoidDecl& monoid) {
  std::map<std::string, std::string> types;
  for (const ast::MonoidComponent& component : monoid.components)
    if (!element_type_named(component.type.text)) types.emplace(component.type.text, "f32");
  for (const ast::WhereClause& where : monoid.where)
    if (where.type_name && where.type_class && where.type_class->text == "int") types[where.type_name->text] = "i32";
  return types;
}

// program ops_sample(x0: f32[4], x1: i64[4]) -> (y0: f32[], y1: i64[]) { (y0[], y1[]) = argmax[k] (x0[k], x1[k]) }
std::string sample_of(const ast::MonoidDecl& monoid, const std::map<std::string, std::string>& types) {
  std::vector<std::string> inputs, results, names, cells;
  for (std::size_t k = 0; k < monoid.components.size(); ++k) {
    auto generic = types.find(monoid.components[k].type.text);
    const std::string type = generic == types.end() ? monoid.components[k].type.text : generic->second;
    inputs.push_back(fmt::format("ops_x{}: {}[4]", k, type));
    results.push_back(fmt::format("ops_y{}: {}[]", k, type));
    names.push_back(fmt::format("ops_y{}[]", k));
    cells.push_back(fmt::format("ops_x{}[ops_k]", k));
  }
  auto tuple = [](const std::vector<std::string>& parts) {
    return parts.size() == 1 ? parts[0] : fmt::format("({})", fmt::join(parts, ", "));
  };
  return fmt::format("program {}({}) -> ({}) {{ {} = {}[ops_k] ({}) }}\n", sample_program_name, fmt::join(inputs, ", "),
                     fmt::join(results, ", "), tuple(names), monoid.name.text, fmt::join(cells, ", "));
}

std::string_view text_of(ir::Law law) {
  switch (law) {
    case ir::Law::unknown: return "not known";
    case ir::Law::proved: return "proved";
    case ir::Law::assumed: return "assumed: tried on samples";
    case ir::Law::broken: return "no";
  }
  return "";
}

std::string on_one_line(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) out += c;
    else if (!out.empty() && out.back() != ' ') out += ' ';
  }
  return out;
}

std::string describe_laws(const ir::Monoid& monoid) {
  std::string text = fmt::format("  associative  {}\n  neutral      {}\n", text_of(monoid.laws.associative),
                                 text_of(monoid.laws.identity));
  text += fmt::format("  commutative  {}\n", monoid.laws.commutative == ir::Law::broken
                                                 ? "no: blocks are combined in order"
                                                 : text_of(monoid.laws.commutative));
  if (monoid.fold) text += fmt::format("  fold         {}\n", text_of(monoid.laws.fold));
  return text;
}

ir::Program compile_monoid(Session& session, const ast::MonoidDecl& monoid, FileId file, bool library,
                           LawMemory& laws) {
  CompileOptions options;
  options.program = sample_program_name;
  options.standard_library = embedded::std_tap;
  options.laws = &laws;
  std::string text = library ? "use std\n" : session.sources.file(file).text() + "\n";
  FileId sample = session.sources.add(session.sources.file(file).path(), text + sample_of(monoid, types_of(monoid)));
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(session.sources, sample, options, diagnostics);
  if (compiled && !diagnostics.has_errors()) return std::move(compiled->program);
  session.report(diagnostics);
  throw Reported{exit_code::wrong_program};
}

}  // namespace

std::vector<const ast::MonoidDecl*> monoids_of(const ast::Module& module) {
  std::vector<const ast::MonoidDecl*> list;
  for (const ast::Declaration& item : module.declarations)
    if (const auto* monoid = std::get_if<ast::MonoidDecl>(&item.node)) list.push_back(monoid);
  return list;
}

std::string describe_monoid(Session& session, const ast::Module& module, const ast::MonoidDecl& monoid, FileId file,
                            bool library, LawMemory& laws) {
  std::vector<std::string> components, conditions, types;
  for (const ast::MonoidComponent& c : monoid.components) components.push_back(c.name.text + ": " + c.type.text);
  for (const ast::WhereClause& where : monoid.where)
    conditions.push_back(on_one_line(session.sources.text(where.span)));
  for (const auto& [name, type] : types_of(monoid)) types.push_back(name + " = " + type);
  std::string text = fmt::format("monoid {}({}){}{}\n", monoid.name.text, fmt::join(components, ", "),
                                 conditions.empty() ? "" : " where ", fmt::join(conditions, ", "));
  for (std::string_view doc = monoid.doc; !doc.empty();) {
    auto end = std::min(doc.find('\n'), doc.size());
    text += fmt::format("    {}\n", doc.substr(0, end));
    doc.remove_prefix(std::min(end + 1, doc.size()));
  }
  text += fmt::format("\n  identity     {}\n", on_one_line(session.sources.text(module[monoid.identity].span)));
  text += fmt::format("  combine      ({}, {}) = {}\n", monoid.left.text, monoid.right.text,
                      on_one_line(session.sources.text(module[monoid.combine].span)));
  text += types.empty() ? "\nlaws:\n" : fmt::format("\nlaws, with {}:\n", fmt::join(types, ", "));
  ir::Program program = compile_monoid(session, monoid, file, library, laws);
  for (const ir::Monoid& one : program.monoids)
    if (one.components.size() == monoid.components.size() && one.name == monoid.name.text)
      return text + describe_laws(one);
  return text + describe_laws(program.monoids.at(0));
}

}  // namespace tap::driver
