#include "ir/text/print_cell.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "ir/text.h"
#include "ir/text_names.h"

namespace tap::ir {
namespace {

// Binding strength of an expression; operands that bind less tightly are put in parentheses.
enum Binding { loosest, disjunction, conjunction, negation, comparison, sum, product, sign, atom };

struct Piece {
  std::string text;
  Binding level;
};

std::string at_least(const Piece& piece, Binding level) {
  return piece.level >= level ? piece.text : "(" + piece.text + ")";
}

struct Infix {
  Binding level, left, right;  // of the whole, and the minimum for the operands
};
// Left-associative operators accept an equal level on the left; comparisons do not chain.
std::optional<Infix> infix_of(CellOp op) {
  switch (op) {
    case CellOp::logical_or: return Infix{disjunction, disjunction, conjunction};
    case CellOp::logical_and: return Infix{conjunction, conjunction, negation};
    case CellOp::equal:
    case CellOp::not_equal:
    case CellOp::less:
    case CellOp::less_equal: return Infix{comparison, sum, sum};
    case CellOp::add:
    case CellOp::sub: return Infix{sum, sum, product};
    case CellOp::mul:
    case CellOp::div:
    case CellOp::mod: return Infix{product, product, sign};
    default: return std::nullopt;
  }
}

class CellPrinter {
 public:
  CellPrinter(const CellExprs& exprs, const CellWords& words, CellNames names = {})
      : exprs_(exprs), words_(words), named_(std::move(names)) {}

  std::string run(CellId root) {
    choose_names(root);
    std::vector<std::string> lets;
    for (CellId id : named_in_order_) lets.push_back(named_[id] + " = " + written_out(id).text);
    std::string body = piece(root).text;
    return lets.empty() ? body : "let " + joined(lets) + " in " + body;
  }

  std::string definition(CellId root) { return written_out(root).text; }

 private:
  // Small trees are written out. Otherwise cells that are used twice or nested too deeply are named, so that neither
  // text nor recursion grows beyond the number of cells.
  void choose_names(CellId root) {
    constexpr std::size_t small = 100, deep = 50;
    std::vector<CellId> all = reachable_from(exprs_, {root});
    std::unordered_map<CellId, std::size_t> uses, size, depth;
    for (CellId id : all) {
      std::size_t s = 1, d = 1;
      for (CellId arg : exprs_[id].args) {
        ++uses[arg];
        s = std::min<std::size_t>(s + size[arg], 1'000'000);
        d = std::max(d, depth[arg] + 1);
      }
      size[id] = s;
      depth[id] = d;
    }
    if (size[root] <= small && depth[root] <= deep) return;
    for (CellId id : all) {
      if (id == root || exprs_[id].args.empty()) continue;
      std::size_t d = 1;
      for (CellId arg : exprs_[id].args) d = std::max(d, named_.count(arg) ? 2 : depth[arg] + 1);
      depth[id] = d;
      if (uses[id] < 2 && d < deep) continue;
      named_[id] = fmt::format("%{}", id.index());
      named_in_order_.push_back(id);
    }
  }

  Piece piece(CellId id) {
    auto name = named_.find(id);
    return name == named_.end() ? written_out(id) : Piece{name->second, atom};
  }

  Piece written_out(CellId id) {
    const CellNode& node = exprs_[id];
    auto arg = [&](std::size_t k) { return piece(node.args[k]); };
    std::string spelling(info(node.op).spelling);
    if (auto infix = infix_of(node.op)) {
      std::string text = at_least(arg(0), infix->left) + " " + spelling + " " + at_least(arg(1), infix->right);
      return {std::move(text), infix->level};
    }
    switch (node.op) {
      case CellOp::constant: {
        std::string text = words_.constant ? words_.constant(node.value) : to_string(node.value);
        return {text, text[0] == '-' ? sign : atom};
      }
      case CellOp::neg: {
        bool number = exprs_[node.args[0]].op == CellOp::constant;  // -(3) is not a constant
        return {number ? "-(" + arg(0).text + ")" : "-" + at_least(arg(0), atom), sign};
      }
      case CellOp::logical_not: return {"not " + at_least(arg(0), negation), negation};
      case CellOp::select: return {"if " + arg(0).text + " then " + arg(1).text + " else " + arg(2).text, loosest};
      case CellOp::cast: return {std::string(name_of(node.type)) + "(" + arg(0).text + ")", atom};
      case CellOp::index:
      case CellOp::read:
      case CellOp::argument:
      case CellOp::reduce: return leaf(node);
      default: break;
    }
    std::vector<std::string> args;
    for (std::size_t k = 0; k < node.args.size(); ++k) args.push_back(arg(k).text);
    return {spelling + "(" + joined(args) + ")", atom};
  }

  Piece leaf(const CellNode& node) {
    std::string text = words_.leaf(node, [this](CellId id) { return piece(id).text; });
    return {std::move(text), node.op == CellOp::reduce ? loosest : atom};  // a reduction reaches as far right as it can
  }

  const CellExprs& exprs_;
  const CellWords& words_;
  CellNames named_;
  std::vector<CellId> named_in_order_;
};

// Coordinates of a read may contain reads. Their depth is limited, since they may be cyclic before verification, and so
// is their number: t[t[i, i], t[i, i]] doubles at every depth.
std::string read_text(const Operator& op, std::uint32_t number, const std::function<std::string(CellId)>& show) {
  if (number >= op.reads.size()) return fmt::format("read{}", number);
  const Access& access = op.reads[number];
  std::vector<std::string> names = variable_names(op), axes;
  for (std::size_t axis = 0; axis < access.projection.rank(); ++axis) {
    bool by_data = axis < access.coordinates.size() && access.coordinates[axis];
    axes.push_back(by_data ? show(*access.coordinates[axis]) : to_string(access.projection.start.rows[axis], names));
  }
  std::string text = operand_name(op, access.tensor) + "[" + joined(axes);
  if (access.fill) text += (axes.empty() ? "else " : " else ") + show(*access.fill);
  return text + "]";
}

struct Shown {
  int depth;                                                // nested brackets that may still be printed
  std::shared_ptr<int> cells = std::make_shared<int>(100);  // and cells in any brackets
  Shown within() const { return {depth - 1, cells}; }
};

CellWords words_within(const Operator& op, Shown shown) {
  return {[&op, shown](const CellNode& node, const std::function<std::string(CellId)>&) -> std::string {
    if (node.op == CellOp::index)
      return node.attribute < op.dims.size() ? op.dims[node.attribute].name : fmt::format("#{}", node.attribute);
    if (node.op != CellOp::read) return fmt::format("{}{}", info(node.op).spelling, node.attribute);
    return read_text(op, node.attribute, [&op, &shown](CellId id) {
      if (shown.depth == 0 || --*shown.cells < 0) return std::string("…");
      return print_cells(op.exprs, id, words_within(op, shown.within()));
    });
  }};
}

}  // namespace

std::string print_cells(const CellExprs& exprs, CellId root, const CellWords& words) {
  return CellPrinter(exprs, words).run(root);
}

std::string print_cell_out(const CellExprs& exprs, CellId root, const CellWords& words, const CellNames& names) {
  return CellPrinter(exprs, words, names).definition(root);
}

CellWords words_of(const Operator& op) { return words_within(op, {8}); }

std::string print_cell(const Operator& op, CellId cell) { return print_cells(op.exprs, cell, words_of(op)); }

}  // namespace tap::ir
