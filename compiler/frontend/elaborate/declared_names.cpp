#include "compiler/frontend/elaborate/declared_names.h"

#include <fmt/format.h>

#include <unordered_map>

namespace tap {
namespace {

class NameTable {
 public:
  NameTable(const ast::Module& module, Diagnostics& diagnostics) : module_(module), diagnostics_(diagnostics) {}

  void declare(const ast::Name& name, std::string_view kind, const std::string& message) {
    auto [at, fresh] = first_.emplace(name.text, First{name.span, kind});
    const First& first = at->second;
    if (fresh) return;
    Diagnostic d(Code::duplicate_name, name.span, message);
    if (first.kind == kind) return diagnostics_.report(std::move(d).label(first.span, "first declared here"));
    d.message = fmt::format("`{}` names both {} and {}", name.text, first.kind, kind);
    d.label(first.span, fmt::format("`{}` is {} here", name.text, first.kind));
    diagnostics_.report(std::move(d).help("rename one of them"));
  }
  // A size uses the name of a parameter or of a dim; the first use of a dim declares it.
  void use(ast::ExprId id) {
    const ast::Expr& expr = module_[id];
    if (const auto* name = std::get_if<ast::NameRef>(&expr.node)) first_.emplace(name->name, First{expr.span, "a dim"});
    if (const auto* pack = std::get_if<ast::PackRef>(&expr.node))
      first_.emplace(pack->name, First{expr.span, "a pack of dims"});
    if (const auto* unary = std::get_if<ast::Unary>(&expr.node)) use(unary->operand);
    if (const auto* binary = std::get_if<ast::Binary>(&expr.node)) use(binary->left), use(binary->right);
  }

 private:
  const ast::Module& module_;
  Diagnostics& diagnostics_;
  struct First {
    Span span;
    std::string_view kind;
  };
  std::unordered_map<std::string, First> first_;
};

template <class Head>
void check(const ast::Module& module, const Head& head, Diagnostics& diagnostics) {
  NameTable table(module, diagnostics);
  if constexpr (requires { head.params; })
    for (const ast::Param& param : head.params)
      table.declare(param.name, "a parameter",
                    "`" + head.name.text + "` has the parameter `" + param.name.text + "` twice");
  for (const ast::TensorParam& tensor : head.inputs)  // results declare no dims
    for (const ast::DimItem& item : tensor.type.dims) table.use(item.size);
  for (const auto* list : {&head.inputs, &head.results})
    for (const ast::TensorParam& tensor : *list)
      table.declare(tensor.name, "a tensor", "`" + tensor.name.text + "` is declared twice");
}

}  // namespace

void check_declared_names(const ast::Module& module, const ast::Declaration& declaration, Diagnostics& diagnostics) {
  if (const auto* op = std::get_if<ast::OpDecl>(&declaration.node)) check(module, *op, diagnostics);
  if (const auto* outside = std::get_if<ast::ExternDecl>(&declaration.node)) check(module, *outside, diagnostics);
  if (const auto* program = std::get_if<ast::ProgramDecl>(&declaration.node)) check(module, *program, diagnostics);
}

}  // namespace tap
