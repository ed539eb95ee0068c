#include "compiler/frontend/syntax/print_ast.h"

#include <fmt/format.h>

#include "compiler/frontend/syntax/expr_printer.h"

namespace tap {

using namespace ast;

namespace {

std::string name_of(const Name& n) { return n.text; }

std::string documentation(const std::string& doc) {
  std::string text;
  for (std::size_t at = 0; !doc.empty() && at <= doc.size();) {
    std::size_t end = std::min(doc.find('\n', at), doc.size());
    text += end == at ? "///\n" : "/// " + doc.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

class StatementPrinter {
 public:
  StatementPrinter(ExprPrinter& exprs, int indent) : exprs_(exprs), indent_(indent) {}

  std::string operator()(const Equation& n) {
    std::string left =
        joined(n.left, [&](const LeftSide& c) { return c.base.text + "[" + exprs_.list(c.indices, indent_) + "]"; });
    std::string text = (n.tuple ? "(" + left + ")" : left) + " = " + exprs_.whole(n.right, indent_);
    return n.ranges.empty() ? text : text + " for " + exprs_.ranges(n.ranges);
  }
  std::string operator()(const Binding& n) {
    std::string left = joined(n.left, name_of);
    std::string text = (n.tuple ? "(" + left + ")" : left) + " = " + exprs_.whole(n.right, indent_);
    return n.sharding ? text + ExprPrinter::sharding(*n.sharding) : text;
  }
  std::string operator()(const GroupStatement& n) { return "group " + joined(n.values, name_of); }
  std::string operator()(const BarrierStatement& n) {
    const char* kind = n.kind == BarrierKind::forward    ? "forward"
                       : n.kind == BarrierKind::backward ? "backward"
                                                         : "both";
    return "barrier " + n.value.text + " " + kind;
  }
  std::string operator()(const SplitStatement& n) {
    std::string text = "split " + n.target.text;
    if (n.instance) text += fmt::format("#{}", *n.instance);
    text += n.axis ? fmt::format(" on axis {}", *n.axis) : " on " + n.dim->text;
    text += " into ";
    text += n.count ? exprs_.whole(*n.count, indent_)
                    : "[" + joined(n.blocks, [&](const auto& b) { return exprs_.range(b.first, b.second); }) + "]";
    switch (n.placement) {
      case Placement::unspecified: return text;
      case Placement::threads: return text + " over threads";
      case Placement::sequential: return text + " over sequential";
      case Placement::mesh_axis: break;
    }
    return text + " over " + (n.mesh ? n.mesh->text + "." : "") + ExprPrinter::axis(*n.axis_ref);
  }

 private:
  ExprPrinter& exprs_;
  int indent_;
};

class DeclarationPrinter {
 public:
  explicit DeclarationPrinter(const Module& module) : module_(module), exprs_(module) {}

  std::string operator()(const UseDecl& n) { return "use " + n.module.text + "\n"; }
  std::string operator()(const DimDecl& n) { return "dim " + n.name.text + " = " + exprs_.whole(n.value) + "\n"; }
  std::string operator()(const MeshDecl& n) {
    std::string text = "mesh " + n.name.text + " = [" +
                       joined(n.axes, [](const MeshAxis& a) { return fmt::format("{}: {}", a.name.text, a.size); }) +
                       "]";
    if (n.devices) text += " devices [" + joined(*n.devices, [](std::int64_t id) { return std::to_string(id); }) + "]";
    return text + "\n";
  }
  std::string operator()(const MonoidDecl& n) {
    std::string text = documentation(n.doc) + "monoid " + n.name.text + "(" +
                       joined(n.components, [](const MonoidComponent& c) { return c.name.text + ": " + c.type.text; }) +
                       ")" + where(n.where) + " {\n";
    text += "    identity " + exprs_.whole(n.identity, 1) + "\n";
    text += "    combine (" + n.left.text + ", " + n.right.text + ") = " + whole(n.combine) + "\n";
    if (n.fold)
      text += "    fold[" + n.fold->index.text + "] (" + joined(n.fold->args, name_of) + ") = " + whole(n.fold->body) +
              "\n";
    return text + "}\n";
  }
  std::string operator()(const OpDecl& n) {
    return documentation(n.doc) + "op " + n.name.text + params(n.params) + signature(n.inputs, n.results) +
           where(n.where) + body(n.body);
  }
  std::string operator()(const ProgramDecl& n) {
    return documentation(n.doc) + "program " + n.name.text + signature(n.inputs, n.results) + body(n.body);
  }
  std::string operator()(const RewriteDecl& n) {
    std::string text = documentation(n.doc) + "rewrite " + whole(n.pattern) + " => " + exprs_.whole(n.replacement);
    return (n.guard ? text + " when " + whole(*n.guard) : text) + "\n";
  }
  std::string operator()(const ExternDecl& n) {
    std::string text = documentation(n.doc) + "extern op " + n.name.text + params(n.params) +
                       signature(n.inputs, n.results) + where(n.where) + " {\n";
    text += "    index [" +
            joined(n.index,
                   [&](const ExternIndex& d) {
                     std::string dim = (d.keep        ? "keep "
                                        : d.reduce_by ? "reduce "
                                                      : "") +
                                       d.name.text + ": " + exprs_.whole(d.extent, 1);
                     return d.reduce_by ? dim + " by " + d.reduce_by->text : dim;
                   }) +
            "]\n";
    for (const ExternAccess& a : n.reads) text += "    read " + access(a);
    for (const ExternAccess& a : n.writes) text += "    write " + access(a);
    text += "    kernel \"" + n.kernel + "\"\n";
    if (n.cost_flops) text += "    cost flops " + whole(*n.cost_flops) + "\n";
    return text + "}\n";
  }

 private:
  std::string whole(ExprId id) {
    exprs_.begin_statement();
    return exprs_.whole(id, 1);
  }

  std::string access(const ExternAccess& a) {
    exprs_.begin_statement();
    std::string text = a.tensor.text + " at [" + exprs_.list(a.at, 1) + "] shape [" + exprs_.list(a.shape, 1) + "]";
    return (a.fill ? text + " else " + exprs_.whole(*a.fill, 1) : text) + "\n";
  }

  std::string params(const std::vector<Param>& list) {
    if (list.empty()) return {};
    return "<" +
           joined(list,
                  [&](const Param& p) {
                    std::string text = p.name.text + (p.pack ? ".." : "") + ": " + p.kind.text;
                    return p.default_value ? text + " = " + exprs_.in_angles(*p.default_value) : text;
                  }) +
           ">";
  }

  std::string tensors(const std::vector<TensorParam>& list) {
    return joined(list, [&](const TensorParam& t) {
      std::string text = (t.is_const ? "const " : "") + t.name.text + ": " + t.type.element.text + "[" +
                         joined(t.type.dims,
                                [&](const DimItem& d) {
                                  bool dots = d.pack && std::holds_alternative<Call>(module_[d.size].node);
                                  return exprs_.whole(d.size) + (dots ? ".." : "");
                                }) +
                         "]";
      return t.sharding ? text + ExprPrinter::sharding(*t.sharding) : text;
    });
  }
  std::string signature(const std::vector<TensorParam>& inputs, const std::vector<TensorParam>& results) {
    exprs_.begin_statement();
    std::string in = tensors(inputs);
    return "(" + in + ") -> (" + tensors(results) + ")";
  }

  std::string where(const std::vector<WhereClause>& list) {
    if (list.empty()) return {};
    return " where " + joined(list, [&](const WhereClause& w) {
             return w.condition ? exprs_.whole(*w.condition) : w.type_name->text + ": " + w.type_class->text;
           });
  }

  std::string body(const std::vector<Statement>& statements) {
    std::string text = " {\n";
    for (const Statement& s : statements) text += "    " + print_statement(module_, s, exprs_, 1) + "\n";
    return text + "}\n";
  }

  const Module& module_;
  ExprPrinter exprs_;
};

}  // namespace

std::string print_statement(const Module&, const Statement& statement, ExprPrinter& printer, int indent) {
  printer.begin_statement();
  return std::visit(StatementPrinter(printer, indent), statement.node);
}

std::string print(const Module& module) {
  std::string text;
  if (module.version) text += fmt::format("tap {}\n", *module.version);
  DeclarationPrinter printer(module);
  for (const Declaration& d : module.declarations) text += (text.empty() ? "" : "\n") + std::visit(printer, d.node);
  return text;
}

std::string print(const Module& module, ExprId expr) { return ExprPrinter(module).whole(expr); }

}  // namespace tap
