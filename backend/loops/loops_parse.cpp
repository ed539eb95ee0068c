// Reads the text of a kernel (loops_text.h), line by line; how far a line is indented says what it belongs to.
#include <fmt/format.h>

#include <algorithm>

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_words.h"
#include "backend/loops/parse_loop_cell.h"

namespace tap::backend {

using namespace ir;

namespace {

struct TextLine {
  std::size_t number, indent;
  std::string_view text;
};

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (!Line(one, number).at_end()) lines.push_back({number, one.find_first_not_of(' '), one});
  }
  return lines;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lines_(lines_of(text)) {}
  Kernel run();

 private:
  Line line() const { return {lines_[next_].text, lines_[next_].number}; }
  bool at_block(std::size_t indent) const { return next_ < lines_.size() && lines_[next_].indent >= indent; }
  std::uint32_t variable(Line& line) const;
  std::vector<std::uint32_t> variables(Line& line) {
    return line.list("(", ")", [&] { return variable(line); });
  }
  void add_variable(const std::string& name);
  void add_tensor(Line& line);
  void first_line();
  void find_definitions();
  bool declaration();
  void local(Line& line);
  void accumulator(Line& line);
  void section_dims(Line& line);

  std::vector<Statement> body(std::size_t indent);  // of a statement that is indented so far
  Statement statement();
  For loop(Line& line, LoopKind kind);
  Guard guard(Line& line);
  std::variant<Define, Let> let(Line& line);
  void name_cell(Line& line);
  std::variant<Assign, FoldLanes> assign(Line& line);
  FoldLanes fold(Line& line, std::vector<std::uint32_t> to);
  Store store(Line& line);
  Fetch fetch(Line& line);
  std::vector<AffineExpr> place(Line& line) {
    return line.list("[", "]", [&] { return line.affine(kernel_.variables); });
  }
  std::vector<CellId> values(Line& line, std::size_t count);
  std::vector<std::uint32_t> slots(Line& line);
  Bound bound(Line& line, bool lower);
  std::vector<Bound> bounds(Line& line, bool lower);
  CellParser cells(Line& line) { return {line, kernel_, names_}; }

  std::vector<TextLine> lines_;
  std::size_t next_ = 0;
  Kernel kernel_;
  KernelNames names_;
};

std::uint32_t Parser::variable(Line& line) const {
  std::size_t begin = line.column();
  std::string_view name = line.word();
  auto found = std::find(kernel_.variables.begin(), kernel_.variables.end(), name);
  if (found == kernel_.variables.end()) line.fail_at(begin, fmt::format("`{}` is no variable", name));
  return static_cast<std::uint32_t>(found - kernel_.variables.begin());
}

void Parser::add_variable(const std::string& name) {
  auto& all = kernel_.variables;
  if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}

void Parser::add_tensor(Line& line) {
  TensorArgument tensor;
  tensor.name = line.name();
  line.expect(":");
  tensor.type = line.tensor_type();
  if (!names_.tensors.emplace(tensor.name, static_cast<std::uint32_t>(kernel_.tensors.size())).second)
    line.fail(fmt::format("two tensors are called `{}`", tensor.name));
  kernel_.tensors.push_back(std::move(tensor));
}

// kernel (x: f32[8]) -> (y: f32[8]) over (i)
void Parser::first_line() {
  if (lines_.empty()) throw TextFailure{1, "a kernel is missing", 0};
  Line first = line();
  first.expect_word("kernel");
  auto tensors = [&] { return first.list("(", ")", [&] { return (add_tensor(first), 0); }).size(); };
  kernel_.operands = tensors();
  first.expect("->");
  kernel_.results = tensors();
  first.expect_word("over");
  auto dims = first.list("(", ")", [&] { return first.name(); });
  first.expect_end();
  kernel_.dims = dims.size();
  for (const std::string& dim : dims) {
    kernel_.variables.push_back("lo_" + dim);
    kernel_.variables.push_back("hi_" + dim);
  }
  for (const std::string& dim : dims) kernel_.variables.push_back(dim);
  kernel_.sections.push_back(box_dims(kernel_));
  ++next_;
}

// The header speaks of variables that are defined further down.
void Parser::find_definitions() {
  for (std::size_t n = next_; n < lines_.size(); ++n) {
    Line line(lines_[n].text, lines_[n].number);
    bool defines = line.eat_word("for") || line.eat_word("unroll") || line.eat_word("lanes") || line.eat_word("let");
    if (defines && !line.rest().starts_with('%')) add_variable(line.name());
  }
  for (std::size_t n = next_; n < lines_.size(); ++n) {
    Line line(lines_[n].text, lines_[n].number);
    if (!line.eat_word("unused")) continue;
    do add_variable(line.name());
    while (line.eat(","));
    line.expect_end();
  }
}

void Parser::local(Line& line) {
  add_tensor(line);
  Local local;
  line.expect_word("holds");
  local.extents = line.integers();
  line.expect_word("at");
  local.origin = line.list("(", ")", [&] { return line.affine(kernel_.variables); });
  kernel_.tensors.back().local = std::move(local);
}

// acc0: f32x16[4]
void Parser::accumulator(Line& line) {
  std::string expected = fmt::format("acc{}", kernel_.accumulators.size());
  std::size_t begin = line.column();
  if (line.word() != expected) line.fail_at(begin, fmt::format("`{}` should stand here", expected));
  line.expect(":");
  begin = line.column();
  std::string_view word = line.word();
  std::size_t times = word.find('x');
  auto type = element_type_named(word.substr(0, times));
  if (!type) line.fail_at(begin, fmt::format("`{}` is no element type", word));
  Accumulator accumulator{*type};
  if (times != std::string_view::npos) accumulator.lanes = Line(word.substr(times + 1), line.number()).any_number();
  if (line.eat("[")) {
    accumulator.count = line.any_number();
    line.expect("]");
  }
  kernel_.accumulators.push_back(accumulator);
}

void Parser::section_dims(Line& line) {
  std::size_t number = line.any_number();
  if (number != 0 && number != kernel_.sections.size())
    line.fail(fmt::format("section {} stands where section {} should", number, kernel_.sections.size()));
  line.expect_word("at");
  SectionDims dims;
  dims.at = variables(line);
  line.expect_word("from");
  dims.lo = variables(line);
  line.expect_word("of");
  dims.operands = line.list("(", ")", [&] { return cells(line).tensor(); });
  if (number == 0) kernel_.sections[0] = std::move(dims);
  else kernel_.sections.push_back(std::move(dims));
}

// Whether the next line is one; then it is read.
bool Parser::declaration() {
  if (!at_block(1)) return false;
  std::string_view text = lines_[next_].text;
  Line one = line();
  if (one.eat_word("cut")) {
    std::uint32_t dim = variable(one);
    if (dim < 2 * kernel_.dims || dim >= 3 * kernel_.dims) one.fail("only a dim of the box can be cut");
    kernel_.cut = dim - 2 * kernel_.dims;
    one.expect_word("by");
    kernel_.grain = one.integer();
    one.expect_word("worth");
    kernel_.worth = one.integer();
  } else if (one.eat_word("exact")) {
    one.expect_word("arithmetic");
    kernel_.exact_arithmetic = true;
  } else if (one.eat_word("unused")) {
    one.take(one.rest().size());
  } else if (one.eat_word("local")) {
    local(one);
  } else if (one.eat_word("section") && text.find(" at ") != std::string_view::npos) {
    section_dims(one);
  } else if (one = line(); one.rest().starts_with("acc") && text.find(':') != std::string_view::npos) {
    accumulator(one);
  } else {
    return false;
  }
  one.expect_end();
  ++next_;
  return true;
}

// Statements that are indented further than the one that holds them, all equally.
std::vector<Statement> Parser::body(std::size_t indent) {
  std::vector<Statement> statements;
  if (!at_block(indent + 1)) return statements;
  std::size_t own = lines_[next_].indent;
  constexpr std::size_t deep = 400;
  if (own > deep) line().fail("statements are nested too deeply");
  while (at_block(indent + 1)) {
    Line one = line();
    if (lines_[next_].indent != own) one.fail("the line is indented otherwise than those before it");
    if (one.eat_word("let") && one.rest().starts_with('%')) {
      name_cell(one);
      continue;
    }
    statements.push_back(statement());
    names_.cells.clear();
  }
  return statements;
}

void Parser::name_cell(Line& line) {
  line.expect("%");
  std::string name = fmt::format("%{}", line.any_number());
  line.expect("=");
  CellId id = cells(line).cell();
  line.expect_end();
  names_.cells[name] = id;
  ++next_;
}

Statement Parser::statement() {
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
  else if (one.eat_word("fetch")) result.node = fetch(one);
  else if (is_accumulator(Line(one).word())) std::visit(keep, assign(one));
  else result.node = store(one);
  one.expect_end();
  return result;
}

// ceil((i - 3) / 2)
Bound Parser::bound(Line& line, bool lower) {
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

std::vector<Bound> Parser::bounds(Line& line, bool lower) {
  if (!line.eat_word(lower ? "max" : "min")) return {bound(line, lower)};
  return line.list("(", ")", [&] { return bound(line, lower); });
}

For Parser::loop(Line& line, LoopKind kind) {
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

Guard Parser::guard(Line& line) {
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

std::variant<Define, Let> Parser::let(Line& line) {
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

std::vector<std::uint32_t> Parser::slots(Line& line) {
  std::vector<std::uint32_t> result;
  do result.push_back(cells(line).slot());
  while (line.eat(","));
  return result;
}

std::vector<CellId> Parser::values(Line& line, std::size_t count) {
  std::vector<CellId> result;
  do result.push_back(cells(line).cell());
  while (line.eat(","));
  if (result.size() != count) line.fail(fmt::format("{} cells for {} places", result.size(), count));
  return result;
}

std::variant<Assign, FoldLanes> Parser::assign(Line& line) {
  std::vector<std::uint32_t> to = slots(line);
  line.expect("=");
  if (line.eat_word("fold")) return fold(line, std::move(to));
  auto count = to.size();
  return Assign{std::move(to), values(line, count)};
}

// acc1 = fold acc0 by (acc2; acc3) -> acc2 + acc3
FoldLanes Parser::fold(Line& line, std::vector<std::uint32_t> to) {
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

Fetch Parser::fetch(Line& line) {
  Fetch result{cells(line).tensor(), {}};
  result.at = place(line);
  return result;
}

Store Parser::store(Line& line) {
  Store result;
  do {
    Store::Target& target = result.targets.emplace_back();
    target.tensor = cells(line).tensor();
    target.at = place(line);
  } while (line.eat(","));
  line.expect("=");
  std::vector<CellId> all = values(line, result.targets.size());
  for (std::size_t k = 0; k < all.size(); ++k) result.targets[k].value = all[k];
  return result;
}

Kernel Parser::run() {
  first_line();
  find_definitions();
  while (declaration()) {}
  kernel_.body = body(lines_[0].indent);
  if (next_ < lines_.size()) line().fail("the kernel has ended before this line");
  return std::move(kernel_);
}

}  // namespace

std::variant<Kernel, TextError> parse_kernel(std::string_view text) {
  try {
    return normal(Parser(text).run());
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

}  // namespace tap::backend
