// Arithmetic on whole tensors is not allowed: the message suggests the equation that was probably intended.
//
//   Y = A + 2 * B          becomes    Y[i..] = A[i..] + 2 * B[i..]
//   Y = relu(A + B)        becomes    t[i..] = A[i..] + B[i..]
//                                     Y = relu(t)
#include <algorithm>

#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/elaborate/unknown_names.h"
#include "compiler/frontend/syntax/builtins.h"

namespace tap {

struct BodyBuilder::CellText {
  std::string index;                                           // i..
  std::optional<Shape> shape;                                  // of all tensors except 0-d ones
  std::vector<std::pair<std::uint32_t, std::string>> inserts;  // [i..] after a name, by offset in the file
};

std::string BodyBuilder::free_name(std::initializer_list<const char*> choices) const {
  for (const char* name : choices)
    if (!env_.find(name) && !definers(name) && !is_reserved(name)) return name;
  return "";
}

// False if the expression has no cellwise form: its tensors differ in shape, or a part is not cellwise.
bool BodyBuilder::read_cells(ast::ExprId id, CellText& text) {
  const ast::Expr& expr = env_[id];
  if (is_literal(id)) return true;
  if (auto* unary = std::get_if<ast::Unary>(&expr.node)) return read_cells(unary->operand, text);
  if (auto* binary = std::get_if<ast::Binary>(&expr.node))
    return read_cells(binary->left, text) && read_cells(binary->right, text);
  if (auto* choice = std::get_if<ast::If>(&expr.node))
    return read_cells(choice->condition, text) && read_cells(choice->then_value, text) &&
           read_cells(choice->else_value, text);
  if (auto* call = std::get_if<ast::Call>(&expr.node)) {
    bool plain = call->callee.size() == 1 && !call->has_params;
    if (!plain || !(builtin_function(call->callee[0].text) || try_type(env_, call->callee[0].text))) return false;
    return std::all_of(call->args.begin(), call->args.end(),
                       [&](const ast::Arg& arg) { return read_cells(arg.value, text); });
  }
  if (auto* member = std::get_if<ast::Member>(&expr.node)) {
    Diagnostic d = not_a_member(env_, source_of(elaboration_, expr.span), *member, expr.span);
    d.fixes.clear();  // the enclosing arithmetic does not compile, either
    elaboration_.fail(std::move(d));
  }
  auto* name = std::get_if<ast::NameRef>(&expr.node);
  if (!name) return false;
  auto* tensor = env_.find_as<TensorEntity>(name->name);
  if (!tensor) elaboration_.fail(not_a_tensor(env_, name->name, expr.span));
  if (tensor->poisoned) throw Abandoned{};
  bool scalar = tensor->type.shape.empty();
  if (!scalar && text.shape && *text.shape != tensor->type.shape) return false;
  if (!scalar) text.shape = tensor->type.shape;
  // The span may include parentheses around the name.
  std::size_t at = elaboration_.sources.text(expr.span).find(name->name);
  if (at == std::string_view::npos) return false;
  text.inserts.emplace_back(static_cast<std::uint32_t>(expr.span.begin + at + name->name.size()),
                            scalar ? "[]" : "[" + text.index + "]");
  return true;
}

void BodyBuilder::arithmetic_on_tensors(ast::ExprId id) {
  Span span = env_[id].span;
  std::string index = free_name({"i", "j", "k", "l", "m", "n", "p", "q", "u", "v"}), local;
  CellText text{index + "..", {}, {}};
  bool known = read_cells(id, text) && !index.empty();  // reports an undefined name
  Diagnostic d(Code::whole_tensor_arithmetic, span,
               quoted(source_of(elaboration_, span)) + " is arithmetic on whole tensors; write an equation over cells");
  if (!known || !statements_) {
    d.help("write the equation, for example `Y[i..] = A[i..] + B[i..]`, or call an operator, for example `add(A, B)`");
    elaboration_.fail(std::move(d));
  }
  std::string cells(elaboration_.sources.text(span));
  std::sort(text.inserts.rbegin(), text.inserts.rend());
  for (const auto& [at, insert] : text.inserts) cells.insert(at - span.begin, insert);
  std::string left = text.shape ? "[" + text.index + "]" : "[]";

  const ast::Statement& statement = (*statements_)[current_];
  auto* binding = std::get_if<ast::Binding>(&statement.node);
  if (binding && binding->right == id && binding->left.size() == 1 && !binding->tuple) {
    std::string equation = binding->left[0].text + left + " = " + cells;
    d.help("write the equation: " + quoted(equation)).fix(join(binding->left[0].span, span), equation);
    elaboration_.fail(std::move(d));
  }
  local = free_name({"t", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"});
  std::string equation = local + left + " = " + cells;
  d.help("write the equation first: " + quoted(equation));
  if (!local.empty()) {
    std::string_view file = elaboration_.sources.file(span.file).text();
    std::size_t line = file.find_last_of("\r\n", statement.span.begin);
    line = line == std::string_view::npos ? 0 : line + 1;
    std::string indent(file.substr(line, statement.span.begin - line));
    bool own_line = indent.find_first_not_of(" \t") == std::string::npos;
    d.fix({span.file, statement.span.begin, statement.span.begin}, equation + (own_line ? "\n" + indent : "; "));
    d.fix(span, local);
  }
  elaboration_.fail(std::move(d));
}

}  // namespace tap
