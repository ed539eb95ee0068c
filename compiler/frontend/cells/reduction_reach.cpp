#include "compiler/frontend/cells/reduction_reach.h"

#include <fmt/format.h>

#include <algorithm>

namespace tap {
namespace {

using ast::ExprId;

class Reach {
 public:
  Reach(const SourceMap& sources, const ast::Module& module, const ast::Expr& sum)
      : sources_(sources), module_(module), sum_(sum), reduce_(std::get<ast::Reduce>(sum.node)) {
    for (const auto& var : reduce_.vars) variables_.push_back(var.name.text);
    collect(reduce_.operands[0]);
  }

  std::optional<Diagnostic> warning() const {
    std::size_t own = terms_.size();  // the number of terms of the sum
    while (own > 0 && !depends(terms_[own - 1].value)) --own;
    if (own == 0 || own == terms_.size()) return std::nullopt;
    Span further = join(terms_[own].sign, module_[terms_.back().value].span);
    Span inside{sum_.span.file, sum_.span.begin, module_[terms_[own - 1].value].span.end};
    std::string body(sources_.text(module_[reduce_.operands[0]].span));
    std::string head(sources_.text({sum_.span.file, sum_.span.begin, module_[reduce_.operands[0]].span.begin}));
    Diagnostic d(Code::reduction_reaches_further, further,
                 fmt::format("`{}` is inside `{}` but does not depend on {}, so it is added once for every {}",
                             shortened(sources_.text(further)), shortened(sources_.text(sum_span())), join_names("or"),
                             join_names("and")));
    d.label(sum_span(), "a sum extends as far to the right as possible");
    d.note(fmt::format("if this is intended, write `{}({})`", head, shortened(body)));
    d.help("put the sum in parentheses");
    d.fix({inside.file, inside.begin, inside.begin}, "(").fix({inside.file, inside.end, inside.end}, ")");
    return d;
  }

 private:
  struct Term {
    Span sign;  // none for the first one
    ExprId value;
  };

  // The terms of a sum or difference, in source order. Parentheses, `(a + b)`, make one term.
  void collect(ExprId id) {
    const ast::Expr& expr = module_[id];
    auto* binary = std::get_if<ast::Binary>(&expr.node);
    bool sum = binary && (binary->op == ast::BinaryOp::add || binary->op == ast::BinaryOp::sub);
    if (!sum || module_[binary->left].span.begin != expr.span.begin) {
      terms_.push_back({{}, id});
      return;
    }
    collect(binary->left);
    terms_.push_back({binary->op_span, binary->right});
  }

  bool names(const std::string& name) const {
    return std::find(variables_.begin(), variables_.end(), name) != variables_.end();
  }
  bool any_depends(const std::vector<ExprId>& ids) const {
    return std::any_of(ids.begin(), ids.end(), [&](ExprId id) { return depends(id); });
  }

  bool depends(ExprId id) const {
    const auto& node = module_[id].node;
    if (auto* name = std::get_if<ast::NameRef>(&node)) return names(name->name);
    if (auto* pack = std::get_if<ast::PackRef>(&node)) return names(pack->name);
    if (auto* linear = std::get_if<ast::LinearIndex>(&node)) return names(linear->pack);
    if (auto* member = std::get_if<ast::Member>(&node)) return depends(member->object);
    if (auto* index = std::get_if<ast::Index>(&node))
      return any_depends(index->indices) || (index->fill && depends(*index->fill));
    if (auto* call = std::get_if<ast::Call>(&node))
      return std::any_of(call->args.begin(), call->args.end(), [&](const auto& arg) { return depends(arg.value); });
    if (auto* unary = std::get_if<ast::Unary>(&node)) return depends(unary->operand);
    if (auto* binary = std::get_if<ast::Binary>(&node)) return depends(binary->left) || depends(binary->right);
    if (auto* choice = std::get_if<ast::If>(&node))
      return any_depends({choice->condition, choice->then_value, choice->else_value});
    if (auto* let = std::get_if<ast::Let>(&node))
      return depends(let->body) || std::any_of(let->bindings.begin(), let->bindings.end(),
                                               [&](const auto& binding) { return depends(binding.value); });
    if (auto* reduce = std::get_if<ast::Reduce>(&node)) return in_reduction(*reduce);
    if (auto* tuple = std::get_if<ast::Tuple>(&node)) return any_depends(tuple->items);
    return false;
  }
  bool in_reduction(const ast::Reduce& reduce) const {
    for (const auto& var : reduce.vars)
      if ((var.lo && depends(*var.lo)) || (var.hi && depends(*var.hi))) return true;
    return any_depends(reduce.operands);
  }

  std::string join_names(std::string_view last) const {
    std::string text;
    for (std::size_t i = 0; i < reduce_.vars.size(); ++i)
      text += fmt::format("{}`{}{}`",
                          i == 0                         ? ""
                          : i + 1 == reduce_.vars.size() ? fmt::format(" {} ", last)
                                                         : ", ",
                          variables_[i], reduce_.vars[i].pack ? ".." : "");
    return text;
  }
  static std::string shortened(std::string_view text) {
    std::string line(text.substr(0, std::min(text.find_first_of("\r\n"), text.size())));
    bool whole = line.size() == text.size();
    if (line.size() > 60) line.resize(57), whole = false;
    while (!whole && !line.empty() && (line.back() & 0x80) != 0) line.pop_back();  // do not split a character
    return whole ? line : line + "…";
  }
  Span sum_span() const {
    Span first = module_[reduce_.operands[0]].span;
    std::string_view head = sources_.text({sum_.span.file, sum_.span.begin, first.begin});
    auto length = static_cast<std::uint32_t>(head.find_last_not_of(" \t\r\n") + 1);
    return {sum_.span.file, sum_.span.begin, sum_.span.begin + length};
  }

  const SourceMap& sources_;
  const ast::Module& module_;
  const ast::Expr& sum_;
  const ast::Reduce& reduce_;
  std::vector<std::string> variables_;
  std::vector<Term> terms_;
};

}  // namespace

void warn_of_far_reductions(const SourceMap& sources, const ast::Module& module, Diagnostics& diagnostics) {
  std::vector<Diagnostic> found;
  for (const ast::Expr& expr : module.exprs) {
    auto* reduce = std::get_if<ast::Reduce>(&expr.node);
    if (!reduce || reduce->monoid.text != "sum" || reduce->operands.size() != 1) continue;
    if (auto warning = Reach(sources, module, expr).warning()) found.push_back(std::move(*warning));
  }
  // Inner expressions come first in the arena; report in source order.
  std::stable_sort(found.begin(), found.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  for (Diagnostic& warning : found) diagnostics.report(std::move(warning));
}

}  // namespace tap
