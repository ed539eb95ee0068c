// The typing rule of every cell operation, in one table.
#include "ir/verify_parts.h"

namespace tap::ir::verifying {
namespace {

enum class Rule {
  leaf,             // by kind, below
  numbers,          // number arguments of one type; the result's too
  floats,           // likewise, floats
  integers,         // likewise, integers
  bools,            // bool arguments, bool result
  any_to_bool,      // arguments of one type, whatever it is; bool result
  numbers_to_bool,  // number arguments of one type; bool result
  float_to_bool,
  cast,    // any argument, any result
  select,  // bool, then two of the result's type
  reduce,  // argument and result of the monoid's one component's type
};

Rule rule_of(CellOp op) {
  switch (op) {
    case CellOp::constant:
    case CellOp::index:
    case CellOp::read:
    case CellOp::argument: return Rule::leaf;
    case CellOp::neg:
    case CellOp::add:
    case CellOp::sub:
    case CellOp::mul:
    case CellOp::div:
    case CellOp::mod:
    case CellOp::min:
    case CellOp::max:
    case CellOp::abs:
    case CellOp::sign: return Rule::numbers;
    case CellOp::equal:
    case CellOp::not_equal: return Rule::any_to_bool;
    case CellOp::less:
    case CellOp::less_equal: return Rule::numbers_to_bool;
    case CellOp::isnan:
    case CellOp::isinf: return Rule::float_to_bool;
    case CellOp::logical_not:
    case CellOp::logical_and:
    case CellOp::logical_or: return Rule::bools;
    case CellOp::select: return Rule::select;
    case CellOp::exp:
    case CellOp::log:
    case CellOp::log1p:
    case CellOp::expm1:
    case CellOp::sqrt:
    case CellOp::rsqrt:
    case CellOp::floor:
    case CellOp::ceil:
    case CellOp::round:
    case CellOp::sin:
    case CellOp::cos:
    case CellOp::tan:
    case CellOp::asin:
    case CellOp::acos:
    case CellOp::atan:
    case CellOp::sinh:
    case CellOp::cosh:
    case CellOp::tanh:
    case CellOp::asinh:
    case CellOp::acosh:
    case CellOp::atanh:
    case CellOp::erf:
    case CellOp::sigmoid:
    case CellOp::pow: return Rule::floats;
    case CellOp::bitand_:
    case CellOp::bitor_:
    case CellOp::bitxor_:
    case CellOp::bitnot:
    case CellOp::shl:
    case CellOp::shr: return Rule::integers;
    case CellOp::cast: return Rule::cast;
    case CellOp::reduce: return Rule::reduce;
  }
  return Rule::leaf;
}

bool is_number(ElementType t) { return !is_bool(t); }

struct CellChecker {
  Violations& out;
  const Program& program;
  const CellExprs& exprs;
  const CellPlace& place;

  void leaf(const CellNode& node) {
    switch (node.op) {
      case CellOp::index:
        if (!out.expect(place.op, "an index variable stands outside of an operator")) return;
        out.expect(node.attribute < place.op->dims.size(), "index {} of {} dims", node.attribute,
                   place.op->dims.size());
        out.expect(node.type == ElementType::i64, "an index variable is {}, not i64", name_of(node.type));
        return;
      case CellOp::read: {
        if (!out.expect(place.op, "a read stands outside of an operator")) return;
        auto& reads = place.op->reads;
        if (!out.expect(node.attribute < reads.size(), "read {} of {} reads", node.attribute, reads.size())) return;
        std::uint32_t tensor = reads[node.attribute].tensor;
        if (tensor >= place.op->operands.size()) return;  // reported with the access
        ElementType element = place.op->operands[tensor].element;
        out.expect(node.type == element, "read {} is {} and its operand is {}", node.attribute, name_of(node.type),
                   name_of(element));
        return;
      }
      case CellOp::argument: {
        if (!out.expect(place.arguments, "an argument stands outside of a monoid")) return;
        if (!out.expect(node.attribute < place.argument_count, "argument {} of {}", node.attribute,
                        place.argument_count))
          return;
        ElementType wanted = (*place.arguments)[node.attribute % place.arguments->size()].type;
        out.expect(node.type == wanted, "argument {} is {}, not {}", node.attribute, name_of(node.type),
                   name_of(wanted));
        return;
      }
      default: return;  // a constant has the type of its value
    }
  }

  void reduce(const CellNode& node) {
    if (!out.expect(place.may_reduce, "a reduction stands outside of a fold")) return;
    MonoidId id(node.attribute);
    if (!out.expect(valid(id, program.monoids), "monoid {} of {}", node.attribute, program.monoids.size())) return;
    const Monoid& monoid = program[id];
    if (!out.expect(monoid.arity() == 1, "a fold reduces by a monoid of {} components", monoid.arity())) return;
    same(node, 0, monoid.components[0].type);
    out.expect(node.type == monoid.components[0].type, "a reduction by a monoid of {} gives {}",
               name_of(monoid.components[0].type), name_of(node.type));
  }

  void same(const CellNode& node, std::size_t k, ElementType wanted) {
    ElementType found = exprs[node.args[k]].type;
    out.expect(found == wanted, "argument {} of `{}` is {}, not {}", k, info(node.op).spelling, name_of(found),
               name_of(wanted));
  }

  // All arguments have the first one's type, which satisfies `allowed`; the result has `result`.
  void uniform(const CellNode& node, bool (*allowed)(ElementType), std::string_view what, ElementType result) {
    ElementType first = exprs[node.args[0]].type;
    out.expect(allowed(first), "`{}` of {}, where {} is wanted", info(node.op).spelling, name_of(first), what);
    for (std::size_t k = 1; k < node.args.size(); ++k) same(node, k, first);
    out.expect(node.type == result, "`{}` of {} gives {}, not {}", info(node.op).spelling, name_of(first),
               name_of(result), name_of(node.type));
  }

  void node(const CellNode& node) {
    if (!out.expect(node.args.size() == static_cast<std::size_t>(info(node.op).arity), "`{}` has {} arguments, not {}",
                    info(node.op).spelling, node.args.size(), info(node.op).arity))
      return;
    auto any = [](ElementType) { return true; };
    ElementType first = node.args.empty() ? node.type : exprs[node.args[0]].type;
    switch (rule_of(node.op)) {
      case Rule::leaf: return leaf(node);
      case Rule::numbers: return uniform(node, is_number, "a number", first);
      case Rule::floats: return uniform(node, is_float, "a float", first);
      case Rule::integers: return uniform(node, is_integer, "an integer", first);
      case Rule::bools: return uniform(node, is_bool, "a bool", ElementType::boolean);
      case Rule::any_to_bool: return uniform(node, any, "any type", ElementType::boolean);
      case Rule::numbers_to_bool: return uniform(node, is_number, "a number", ElementType::boolean);
      case Rule::float_to_bool: return uniform(node, is_float, "a float", ElementType::boolean);
      case Rule::cast: return;
      case Rule::select:
        same(node, 0, ElementType::boolean);
        same(node, 1, node.type);
        same(node, 2, node.type);
        return;
      case Rule::reduce: return reduce(node);
    }
  }
};

}  // namespace

void verify_cells(Violations& out, const Program& program, const CellExprs& exprs, const CellPlace& place) {
  CellChecker checker{out, program, exprs, place};
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    Violations::Scope at(out, "cell {}", i);
    checker.node(exprs[CellId(i)]);
  }
}

}  // namespace tap::ir::verifying
