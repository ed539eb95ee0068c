// Works on the text alone: a value counts as read if its name occurs as an expression in its scope, except in the
// statements that define it. So a second value with the same name may hide an unread one, but a value that is read is
// never reported.
#include "compiler/frontend/elaborate/unread_values.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "compiler/frontend/elaborate/size_names.h"
#include "support/element_type.h"
#include "support/quoted.h"

namespace tap {
namespace {

class Unread {
 public:
  Unread(const ModuleScope& scope, const ast::Module& module, Diagnostics& diagnostics)
      : scope_(scope), module_(module), diagnostics_(diagnostics) {
    for (const ast::Expr& expr : module.exprs) {
      if (auto* name = std::get_if<ast::NameRef>(&expr.node)) mentions_[name->name].push_back(expr.span.begin);
      if (auto* pack = std::get_if<ast::PackRef>(&expr.node)) mentions_[pack->name].push_back(expr.span.begin);
      if (auto* index = std::get_if<ast::Index>(&expr.node)) mentions_[index->base.text].push_back(expr.span.begin);
      if (auto* iterate = std::get_if<ast::Iterate>(&expr.node)) iterates_.emplace_back(expr.span, iterate);
    }
    for (auto& [name, offsets] : mentions_) std::sort(offsets.begin(), offsets.end());
  }

  template <class Declaration>
  void check(const Declaration& declared, Span whole) {
    std::set<std::string> results;
    for (const ast::TensorParam& result : declared.results) results.insert(result.name.text);
    for (const ast::TensorParam& input : declared.inputs) {
      if (count(input.name.text, whole) > 0 || results.count(input.name.text)) continue;
      if (!gives_a_size(declared, input, whole)) warn(input.name, "the input ");
    }
    check_statements(declared.body, results, whole);
    for (const auto& [span, iterate] : iterates_)
      if (whole.begin <= span.begin && span.end <= whole.end) check_statements(iterate->body, {}, span);
  }

  void report() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
    for (Diagnostic& warning : found_) diagnostics_.report(std::move(warning));
  }

 private:
  std::size_t count(std::string_view name, Span within) const {
    auto found = mentions_.find(name);
    if (found == mentions_.end()) return 0;
    const auto& offsets = found->second;
    return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), within.end) -
                                    std::lower_bound(offsets.begin(), offsets.end(), within.begin));
  }

  static std::vector<const ast::Name*> written_names(const ast::Statement& statement) {
    std::vector<const ast::Name*> names;
    if (auto* binding = std::get_if<ast::Binding>(&statement.node))
      for (const ast::Name& name : binding->left) names.push_back(&name);
    if (auto* equation = std::get_if<ast::Equation>(&statement.node))
      for (const ast::LeftSide& cell : equation->left) names.push_back(&cell.base);
    return names;
  }

  // One of the values that a statement writes may be the only one needed.
  void check_statements(const std::vector<ast::Statement>& statements, const std::set<std::string>& results,
                        Span within) {
    std::unordered_map<std::string_view, std::size_t> outside;  // mentions, except in statements that define the name
    outside.reserve(statements.size());
    for (const ast::Statement& statement : statements)
      for (const ast::Name* name : written_names(statement)) {
        auto [entry, fresh] = outside.try_emplace(name->text, 0);
        if (fresh) entry->second = count(name->text, within);
        if (entry->second > 0) entry->second -= count(name->text, statement.span);
      }
    for (const ast::Statement& statement : statements) {
      const std::vector<const ast::Name*> names = written_names(statement);
      bool is_read = std::any_of(names.begin(), names.end(), [&](const ast::Name* name) {
        return outside[name->text] > 0 || results.count(name->text);
      });
      if (is_read) continue;
      std::vector<ast::Name> unread;
      for (const ast::Name* name : names)
        if (warned_.insert({within.begin, name->text}).second && !name->text.starts_with('_')) unread.push_back(*name);
      if (unread.size() > 1 && unread.size() == names.size()) warn_of_all(unread);
      else
        for (const ast::Name& name : unread) warn(name, "");
    }
  }

  std::set<std::string> names_in(const ast::TypeExpr& type) const {
    std::set<std::string> names{type.element.text};
    for (const ast::DimItem& item : type.dims)
      for_size_names(module_, item.size, [&](const std::string& name, SizeName) { names.insert(name); });
    return names;
  }

  // If two packs share a type, it does not determine their dims.
  std::set<std::string> names_settled_by(const ast::TypeExpr& type) const {
    const auto packs = std::count_if(type.dims.begin(), type.dims.end(), [](const auto& dim) { return dim.pack; });
    std::set<std::string> names{type.element.text};
    for (const ast::DimItem& item : type.dims)
      for_size_names(module_, item.size, [&](const std::string& name, SizeName kind) {
        if (kind == SizeName::dim || packs < 2) names.insert(name);
      });
    return names;
  }

  // x of `zeros_like(x: T[n]) -> (y: T[n])`: it alone determines n and T.
  template <class Declaration>
  bool gives_a_size(const Declaration& declared, const ast::TensorParam& input, Span whole) const {
    std::set<std::string> others;
    for (const ast::TensorParam& other : declared.inputs)
      if (other.name.text != input.name.text) others.merge(names_settled_by(other.type));
    std::set<std::string> of_results;
    for (const ast::TensorParam& result : declared.results) of_results.merge(names_in(result.type));
    for (const std::string& name : names_in(input.type)) {
      if (others.count(name) || is_dim(name) || element_type_named(name)) continue;
      if (of_results.count(name) || count(name, whole) > count(name, input.type.span)) return true;
    }
    return false;
  }
  bool is_dim(const std::string& name) const { return scope_.own[static_cast<std::size_t>(Sort::dim)].count(name) > 0; }

  void warn(const ast::Name& name, std::string_view what) {
    if (name.text.starts_with('_')) return;
    found_.push_back(Diagnostic(Code::never_read, name.span, std::string(what) + quoted(name.text) + " is never read")
                         .help("remove it, or begin its name with `_`: " + quoted("_" + name.text)));
  }

  // (lo, hi) = f(x), of which neither is read
  void warn_of_all(const std::vector<ast::Name>& names) {
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i)
      list += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + quoted(names[i].text);
    found_.push_back(Diagnostic(Code::never_read, join(names.front().span, names.back().span), list + " are never read")
                         .help("remove the statement, or begin the names with `_`"));
  }

  const ModuleScope& scope_;
  const ast::Module& module_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string_view, std::vector<std::uint32_t>>
      mentions_;  // where each name occurs as an expression
  std::vector<std::pair<Span, const ast::Iterate*>> iterates_;
  std::set<std::pair<std::uint32_t, std::string>> warned_;  // once for a name with several writers
  std::vector<Diagnostic> found_;
};

}  // namespace

void warn_of_unread_values(const ModuleScope& scope, Diagnostics& diagnostics) {
  for (const ModuleScope* used : scope.uses)
    if (!used->library) warn_of_unread_values(*used, diagnostics);
  if (scope.in_order.empty()) return;
  Unread unread(scope, *scope.in_order.front()->module, diagnostics);
  for (const Definition* definition : scope.in_order) {
    if (auto* op = definition->as<ast::OpDecl>()) unread.check(*op, definition->part);
    if (auto* program = definition->as<ast::ProgramDecl>()) unread.check(*program, definition->part);
  }
  unread.report();
}

}  // namespace tap
