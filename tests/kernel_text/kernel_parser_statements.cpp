// Parses the statements of a kernel's text.
#include <fmt/format.h>

#include <algorithm>

#include "backend/loops/loops_words.h"
#include "tests/kernel_text/kernel_parser.h"

namespace tap::backend {

using namespace ir;

// Statements that are indented further than the one that holds them, all equally.
std::vector<Statement> KernelParser::body(std::size_t indent) {
  std::vector<Statement> statements;
  if (!at_block(indent + 1)) return statements;
  std::size_t own = lines_[next_].indent;
  constexpr std::size_t deep = 400;
  if (own > deep) line().fail("statements are nested too deeply");
  while (at_block(indent + 1)) {
    Line one = line();
    if (lines_[next_].indent != own) one.fail("inconsistent indentation");
    if (one.eat_word("let") && one.rest().starts_with('%')) {
      name_cell(one);
      continue;
    }
    statements.push_back(statement());
    names_.cells.clear();
  }
  return statements;
}

void KernelParser::name_cell(Line& line) {
  line.expect("%");
  std::string name = fmt::format("%{}", line.any_number());
  line.expect("=");
  CellId id = cells(line).cell();
  line.expect_end();
  names_.cells[name] = id;
  ++next_;
}

Statement KernelParser::statement() {
  Line one = line();
  std::size_t indent = lines_[next_++].indent;
  auto with_body = [&](auto node) -> Statement {
    one.expect_end();
    names_.cells.clear();
    node.body = body(indent);
    return {std::move(node)};
  };
  if (one.eat_word("for")) return with_body(loop(one, LoopKind::serial));
  if (one.eat_word("unroll")) return with_body(loop(one, LoopKind::unrolled));
  if (one.eat_word("lanes")) return with_body(loop(one, LoopKind::lanes));
  if (one.eat_word("if")) return with_body(guard(one));
  if (one.eat_word("section")) return with_body(Section{one.any_number(), {}});
  Statement result;
  auto keep = [&](auto node) { result.node = std::move(node); };
  if (one.eat_word("let")) std::visit(keep, let(one));
  else if (one.eat_word("fetch")) result.node = prefetch(one);
  else if (is_accumulator(Line(one).word())) std::visit(keep, assign(one));
  else result.node = store(one);
  one.expect_end();
  return result;
}

// ceil((i - 3) / 2)
Bound KernelParser::bound(Line& line, bool lower) {
  if (!line.eat_word(lower ? "ceil" : "floor")) return {line.affine(kernel_.variables), 1};
  line.expect("(");
  line.expect("(");
  Bound result{line.affine(kernel_.variables), 1};
  line.expect(")");
  line.expect("/");
  result.divisor = line.integer();
  line.expect(")");
  return result;
}

std::vector<Bound> KernelParser::bounds(Line& line, bool lower) {
  if (!line.eat_word(lower ? "max" : "min")) return {bound(line, lower)};
  return line.list("(", ")", [&] { return bound(line, lower); });
}

For KernelParser::loop(Line& line, LoopKind kind) {
  For result;
  result.kind = kind;
  result.variable = variable(line);
  line.expect_word("in");
  result.lower = bounds(line, true);
  if (line.eat("..")) result.upper = bounds(line, false);
  if (kind == LoopKind::serial) {
    if (line.eat_word("step")) result.step = line.integer();
    result.descending = line.eat_word("down");
  } else {
    line.expect_word("of");
    result.count = line.any_number();
  }
  return result;
}

Guard KernelParser::guard(Line& line) {
  Guard result;
  do {
    if (line.at_parenthesis()) {
      line.expect("(");
      result.cell = cells(line).cell();
      line.expect(")");
      break;
    }
    result.conditions.push_back(line.constraint(kernel_.variables));
  } while (line.eat(","));
  return result;
}

std::variant<Define, Let> KernelParser::let(Line& line) {
  std::uint32_t defined = variable(line);
  line.expect("=");
  if (line.eat("(")) {
    CellId value = cells(line).cell();
    line.expect(")");
    return Let{defined, value};
  }
  bool least = line.rest().starts_with("min(") || line.rest().starts_with("floor(");
  return Define{defined, bounds(line, !least), !least};
}

std::vector<std::uint32_t> KernelParser::slots(Line& line) {
  std::vector<std::uint32_t> result;
  do result.push_back(cells(line).slot());
  while (line.eat(","));
  return result;
}

std::vector<CellId> KernelParser::values(Line& line, std::size_t count) {
  std::vector<CellId> result;
  do result.push_back(cells(line).cell());
  while (line.eat(","));
  if (result.size() != count) line.fail(fmt::format("{} cells for {} places", result.size(), count));
  return result;
}

std::variant<Assign, FoldLanes> KernelParser::assign(Line& line) {
  std::vector<std::uint32_t> to = slots(line);
  line.expect("=");
  if (line.eat_word("fold")) return fold(line, std::move(to));
  auto count = to.size();
  return Assign{std::move(to), values(line, count)};
}

// acc1 = fold acc0 by (acc2; acc3) -> acc2 + acc3
FoldLanes KernelParser::fold(Line& line, std::vector<std::uint32_t> to) {
  FoldLanes result;
  result.to = std::move(to);
  result.from = slots(line);
  line.expect_word("by");
  line.expect("(");
  result.first = slots(line);
  line.expect(";");
  result.second = slots(line);
  line.expect(")");
  line.expect("->");
  result.values = values(line, result.to.size());
  return result;
}

Prefetch KernelParser::prefetch(Line& line) {
  Prefetch result{cells(line).tensor(), {}};
  result.at = coordinates(line);
  return result;
}

Store KernelParser::store(Line& line) {
  Store result;
  do {
    Store::Target& target = result.targets.emplace_back();
    target.tensor = cells(line).tensor();
    target.at = coordinates(line);
  } while (line.eat(","));
  line.expect("=");
  std::vector<CellId> all = values(line, result.targets.size());
  for (std::size_t k = 0; k < all.size(); ++k) result.targets[k].value = all[k];
  return result;
}

}  // namespace tap::backend
