#include "compiler/frontend/elaborate/size_names.h"

namespace tap {

void for_size_names(const ast::Module& module, ast::ExprId size,
                    const std::function<void(const std::string& name, SizeName kind)>& found) {
  auto inside = [&](ast::ExprId part) { for_size_names(module, part, found); };
  const auto& node = module[size].node;
  if (const auto* name = std::get_if<ast::NameRef>(&node)) found(name->name, SizeName::dim);
  if (const auto* pack = std::get_if<ast::PackRef>(&node)) found(pack->name, SizeName::pack);
  if (const auto* unary = std::get_if<ast::Unary>(&node)) inside(unary->operand);
  if (const auto* binary = std::get_if<ast::Binary>(&node)) inside(binary->left), inside(binary->right);
  if (const auto* choice = std::get_if<ast::If>(&node))
    inside(choice->condition), inside(choice->then_value), inside(choice->else_value);
  const auto* call = std::get_if<ast::Call>(&node);
  if (!call) return;
  const bool of_packs = call->callee.back().text != "min" && call->callee.back().text != "max";
  for (const ast::Arg& arg : call->args) {
    const auto* name = std::get_if<ast::NameRef>(&module[arg.value].node);
    if (name && of_packs) found(name->name, SizeName::pack);  // size(p), broadcast(p, q)
    else inside(arg.value);
  }
}

}  // namespace tap
