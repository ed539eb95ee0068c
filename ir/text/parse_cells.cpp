#include <fmt/format.h>

#include "ir/text/parse_program.h"
#include "support/plural.h"

namespace tap::ir::parsing {
namespace {

CellOp cell_op(Line& line) {
  std::string_view name = line.word();
  for (std::size_t k = 0; k < cell_op_count; ++k)
    if (info(static_cast<CellOp>(k)).name == name) return static_cast<CellOp>(k);
  line.fail(fmt::format("`{}` is not a cell operation", name));
}

}  // namespace

void parse_cell(Line& line, CellExprs& exprs, References& references) {
  std::size_t number = line.any_number();
  if (number != exprs.size()) line.fail(fmt::format("found cell {}, expected cell {}", number, exprs.size()));
  line.expect("=");
  CellNode node;
  node.op = cell_op(line);
  node.type = line.element();
  if (node.op == CellOp::constant) {
    node.value = line.scalar(node.type);
  } else if (info(node.op).kind == CellKind::leaf || node.op == CellOp::reduce) {
    node.attribute = line.any_number();
    if (node.op == CellOp::reduce) references.push_back({line.number(), node.attribute, Reference::monoid});
  }
  auto arity = static_cast<std::size_t>(info(node.op).arity);
  if (arity > 0) node.args = line.list("(", ")", [&] { return line.cell_of(exprs); });
  if (node.args.size() != arity) line.fail(fmt::format("{} arguments, expected {}", node.args.size(), arity));
  CellId id = exprs.add(std::move(node));
  if (id.index() != number) line.fail(fmt::format("cell {} repeats cell {}", number, id.index()));
}

std::vector<CellId> MonoidSection::cells(Line& line, std::size_t count) {
  auto result = line.list("(", ")", [&] { return line.cell_of(exprs()); });
  if (result.size() != count) line.fail(fmt::format("{} cells for {} components", result.size(), count));
  return result;
}

void MonoidSection::take(std::string_view keyword, Line& line) {
  std::size_t arity = monoid_.arity();
  if (keyword == "component") {
    std::string name = line.name();
    monoid_.components.push_back({std::move(name), line.element()});
  } else if (keyword == "cell") {
    parse_cell(line, exprs(), references_);
  } else if (keyword == "identity" && !monoid_.fold) {
    monoid_.identity = cells(line, arity);
  } else if (keyword == "combine" && !monoid_.fold) {
    monoid_.combine = cells(line, arity);
  } else if (keyword == "laws") {
    Law* const laws[] = {&monoid_.laws.associative, &monoid_.laws.identity, &monoid_.laws.commutative,
                         &monoid_.laws.fold};
    constexpr std::string_view names[] = {"associative", "identity", "commutative", "fold"};
    for (std::size_t k = 0; k < 4; ++k) {
      line.expect_word(names[k]);
      *laws[k] = line.word_of(words::laws, "state of a law");
    }
  } else if (keyword == "fold" && !monoid_.fold) {
    monoid_.fold.emplace();
  } else if (keyword == "gives" && monoid_.fold) {
    monoid_.fold->roots = cells(line, arity);
  } else {
    line.fail(fmt::format("unexpected `{}` in a monoid", keyword));
  }
}

void MonoidSection::finish(const Line& last) const {
  std::size_t arity = monoid_.arity();
  auto check = [&](const CellExprs& exprs, std::size_t arguments) {
    for (std::size_t k = 0; k < exprs.size(); ++k) {
      const CellNode& node = exprs[CellId(k)];
      if (node.op == CellOp::index || node.op == CellOp::read) last.fail("a monoid reads tensors or index variables");
      if (node.op == CellOp::argument && node.attribute >= arguments)
        last.fail(fmt::format("argument {} of {}", node.attribute, arguments));
    }
  };
  check(monoid_.exprs, 2 * arity);
  if (monoid_.identity.size() != arity || monoid_.combine.size() != arity)
    last.fail("a monoid needs an identity and a combine for each component");
  if (!monoid_.fold) return;
  check(monoid_.fold->exprs, arity);
  if (monoid_.fold->roots.size() != arity)
    last.fail(fmt::format("the fold has {}, expected {}", plural(monoid_.fold->roots.size(), "result"), arity));
}

}  // namespace tap::ir::parsing
