// The types of cells: operands and result of every operation match ir/cell_ops.def.
#include "ir/graph.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir::verifying {
namespace {

struct CellChecker {
  Violations& out;
  const Program& program;
  const CellExprs& exprs;
  const CellContext& context;

  void leaf(const CellNode& node) {
    switch (node.op) {
      case CellOp::index:
        if (!out.expect(context.op, "an index variable occurs outside an operator")) return;
        out.expect(node.attribute < context.op->dims.size(), "index {} is out of range for {} dims", node.attribute,
                   context.op->dims.size());
        out.expect(node.type == ElementType::i64, "an index variable is {}, expected i64", name_of(node.type));
        return;
      case CellOp::read: {
        if (!out.expect(context.op, "a read occurs outside an operator")) return;
        auto& reads = context.op->reads;
        if (!out.expect(node.attribute < reads.size(), "read {} is out of range for {} reads", node.attribute,
                        reads.size()))
          return;
        std::uint32_t tensor = reads[node.attribute].tensor;
        if (tensor >= context.op->operands.size()) return;  // reported with the access
        ElementType element = context.op->operands[tensor].element;
        out.expect(node.type == element, "read {} is {} and its operand is {}", node.attribute, name_of(node.type),
                   name_of(element));
        return;
      }
      case CellOp::argument: {
        if (!out.expect(context.arguments, "an argument occurs outside a monoid")) return;
        if (!out.expect(node.attribute < context.argument_count, "argument {} of {}", node.attribute,
                        context.argument_count))
          return;
        ElementType expected = (*context.arguments)[node.attribute % context.arguments->size()].type;
        out.expect(node.type == expected, "argument {} is {}, expected {}", node.attribute, name_of(node.type),
                   name_of(expected));
        return;
      }
      default: return;  // a constant has the type of its value
    }
  }

  void reduce(const CellNode& node) {
    if (!out.expect(context.may_reduce, "a reduction occurs outside a fold")) return;
    MonoidId id(node.attribute);
    if (!out.expect(valid(id, program.monoids), "monoid {} of {}", node.attribute, program.monoids.size())) return;
    const Monoid& monoid = program[id];
    if (!out.expect(monoid.arity() == 1, "a fold reduces by a monoid of {} components", monoid.arity())) return;
    same(node, 0, monoid.components[0].type);
    out.expect(node.type == monoid.components[0].type, "a reduction by a monoid of {} gives {}",
               name_of(monoid.components[0].type), name_of(node.type));
  }

  void same(const CellNode& node, std::size_t k, ElementType expected) {
    ElementType found = exprs[node.args[k]].type;
    out.expect(found == expected, "argument {} of `{}` is {}, expected {}", k, info(node.op).spelling, name_of(found),
               name_of(expected));
  }

  void choice(const CellNode& node) {
    same(node, 0, ElementType::boolean);
    same(node, 1, node.type);
    same(node, 2, node.type);
  }

  // All arguments have the first one's type.
  void uniform(const CellNode& node) {
    const CellOpInfo& op = info(node.op);
    ElementType first = exprs[node.args[0]].type;
    out.expect(accepts(op.arguments, first), "`{}` of {}, expected {}", op.spelling, name_of(first),
               argument_description(op.arguments));
    for (std::size_t k = 1; k < node.args.size(); ++k) same(node, k, first);
    if (op.result == CellResult::own) return;
    ElementType result = op.result == CellResult::boolean ? ElementType::boolean : first;
    out.expect(node.type == result, "`{}` of {} gives {}, expected {}", op.spelling, name_of(first), name_of(result),
               name_of(node.type));
  }

  void node(const CellNode& node) {
    const CellOpInfo& op = info(node.op);
    if (!out.expect(node.args.size() == static_cast<std::size_t>(op.arity), "`{}` has {} arguments, expected {}",
                    op.spelling, node.args.size(), op.arity))
      return;
    if (op.arguments == CellArguments::none) return leaf(node);
    if (op.arguments == CellArguments::choice) return choice(node);
    if (node.op == CellOp::reduce) return reduce(node);
    uniform(node);
  }
};

}  // namespace

void verify_cells(Violations& out, const Program& program, const CellExprs& exprs, const CellContext& context) {
  CellChecker checker{out, program, exprs, context};
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    Violations::Scope at(out, "cell {}", i);
    checker.node(exprs[CellId(i)]);
  }
}

}  // namespace tap::ir::verifying
