// The syntax tree as nested lists, which `structure` in print_ast.h compares.
#include <fmt/format.h>

#include "compiler/frontend/syntax/print_ast.h"

namespace tap {

using namespace ast;

namespace {

class Structure {
 public:
  Structure(const Module& module, std::string& out) : module_(module), out_(out) {}

  void put(const std::string& text) {
    out_ += out_.empty() || out_.back() == '(' || out_.back() == '\n' ? text : " " + text;
  }
  void put(const Name& n) { put(n.text); }
  void put(std::int64_t n) { put(std::to_string(n)); }
  void put(ExprId id) { put_node(module_[id].node); }
  template <class T>
  void put(const std::optional<T>& value) {
    value ? put(*value) : put(std::string("-"));
  }
  template <class T>
  void put(const Rare<T>& value) {
    value ? put(*value) : put(std::string("-"));
  }
  template <class A, class B>
  void put(const std::pair<A, B>& p) {
    list("..", p.first, p.second);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(std::string("("));
    for (const T& item : items) put(item);
    out_ += ")";
  }

  void put(const AxisRef& n) { n.sub ? list("sub", n.name, n.sub->first, n.sub->second) : put(n.name); }
  void put(const DimSharding& n) { list(n.open ? "open" : "closed", n.axes, n.priority); }
  void put(const Sharding& n) { list("sharding", n.mesh, n.dims, n.replicated, n.unreduced, n.unreduced_monoid); }
  void put(const Arg& n) { n.sharding ? list("at", n.value, n.sharding) : put(n.value); }
  void put(const ParamArg& n) { list("param", n.name, n.value); }
  void put(const LetBinding& n) { list("bind", n.name, n.index, n.value); }
  void put(const RangeVar& n) { list(n.pack ? "pack" : "var", n.name, n.lo, n.hi); }
  void put(const IterateState& n) { list("state", n.name, n.initial); }
  void put(const Statement& n) { put_node(n.node); }
  void put(const LeftSide& n) { list("cell", n.base, n.indices); }
  void put(const DimItem& n) { n.pack ? list("dims", n.size) : put(n.size); }
  void put(const TensorParam& n) {
    list(n.is_const ? "const" : "tensor", n.name, n.type.element, n.type.dims, n.sharding);
  }
  void put(const Param& n) { list(n.pack ? "pack" : "param", n.name, n.kind, n.default_value); }
  void put(const WhereClause& n) { list("where", n.type_name, n.type_class, n.condition); }
  void put(const ExternIndex& n) { list(n.keep ? "keep" : "dim", n.name, n.extent, n.reduce_by); }
  void put(const ExternAccess& n) { list("access", n.tensor, n.at, n.shape, n.fill); }
  void put(const MonoidComponent& n) { list("component", n.name, n.type); }
  void put(const MonoidFold& n) { list("fold", n.index, n.args, n.body); }
  void put(const MeshAxis& n) { list("axis", n.name, n.size); }
  void put(const Declaration& n) { put_node(n.node); }

 private:
  template <class Node>
  void put_node(const Node& node) {
    std::visit([this](const auto& n) { show(n); }, node);
  }
  template <class... Parts>
  void list(std::string head, const Parts&... parts) {
    put("(" + std::move(head));
    (put(parts), ...);
    out_ += ")";
  }

  void show(const IntLiteral& n) { put((n.negated ? "-" : "") + std::to_string(n.magnitude)); }
  void show(const FloatLiteral& n) { put(n.text); }
  void show(const BoolLiteral& n) { put(std::string(n.value ? "true" : "false")); }
  void show(const NameRef& n) { put(n.name); }
  void show(const PackRef& n) { put(n.name + ".."); }
  void show(const LinearIndex& n) { list("linear", n.pack); }
  void show(const Member& n) { list(".", n.object, n.member); }
  void show(const Index& n) { list("read", n.base, n.indices, n.fill); }
  void show(const Call& n) { n.has_params ? list("call", n.callee, n.params, n.args) : list("call", n.callee, n.args); }
  void show(const Unary& n) { list(n.op == UnaryOp::negate ? "negate" : "not", n.operand); }
  void show(const Binary& n) {
    static constexpr const char* names[] = {
        "add", "sub", "mul", "div", "mod", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
    list(names[static_cast<std::size_t>(n.op)], n.left, n.right);
  }
  void show(const If& n) { list("if", n.condition, n.then_value, n.else_value); }
  void show(const Let& n) { list("let", n.bindings, n.body); }
  void show(const Reduce& n) { list("reduce", n.monoid, n.vars, n.operands); }
  void show(const Tuple& n) { list("tuple", n.items); }
  void show(const Iterate& n) { list("iterate", n.counter, n.lo, n.hi, n.states, n.body, n.results); }

  void show(const Equation& n) { list(n.tuple ? "equations" : "equation", n.left, n.right, n.ranges); }
  void show(const Binding& n) { list(n.tuple ? "bindings" : "binding", n.left, n.right, n.sharding); }
  void show(const GroupStatement& n) { list("group", n.values); }
  void show(const BarrierStatement& n) { list("barrier", n.value, static_cast<std::int64_t>(n.kind)); }
  void show(const SplitStatement& n) {
    list("split", n.target, n.instance, n.axis, n.dim, n.count, n.blocks, static_cast<std::int64_t>(n.placement),
         n.axis_ref, n.mesh);
  }

  void show(const UseDecl& n) { list("use", n.module); }
  void show(const DimDecl& n) { list("dim", n.name, n.value); }
  void show(const MeshDecl& n) { list("mesh", n.name, n.axes, n.devices); }
  void show(const MonoidDecl& n) {
    list("monoid", quoted(n.doc), n.name, n.params, n.components, n.where, n.identity, n.left, n.right, n.combine,
         n.fold);
  }
  void show(const OpDecl& n) { list("op", quoted(n.doc), n.name, n.params, n.inputs, n.results, n.where, n.body); }
  void show(const ExternDecl& n) {
    list("extern", quoted(n.doc), n.name, n.params, n.inputs, n.results, n.where, n.index, n.reads, n.writes,
         quoted(n.kernel), n.cost_flops);
  }
  void show(const RewriteDecl& n) { list("rewrite", quoted(n.doc), n.pattern, n.replacement, n.guard); }
  void show(const ProgramDecl& n) { list("program", quoted(n.doc), n.name, n.inputs, n.results, n.body); }

  static std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (char c : text) result += c == '\n' ? std::string("\\n") : std::string(1, c);
    return result + "\"";
  }

  const Module& module_;
  std::string& out_;
};

}  // namespace

std::string structure(const Module& module) {
  std::string out;
  Structure s(module, out);
  if (module.version) out += fmt::format("tap {}\n", *module.version);
  for (const Declaration& d : module.declarations) {
    s.put(d);
    out += "\n";
  }
  return out;
}

std::string structure(const Module& module, ExprId expr) {
  std::string out;
  Structure(module, out).put(expr);
  return out;
}

}  // namespace tap
