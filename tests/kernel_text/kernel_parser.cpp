// Parses the head of a kernel's text: its tensors and declarations.
#include <fmt/format.h>

#include <algorithm>

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_words.h"
#include "tests/kernel_text/kernel_parser.h"
#include "tests/kernel_text/parse_kernel.h"

namespace tap::backend {

using namespace ir;

KernelParser::KernelParser(std::string_view text) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (!Line(one, number).at_end()) lines_.push_back({number, one.find_first_not_of(' '), one});
  }
}

std::uint32_t KernelParser::variable(Line& line) const {
  std::size_t begin = line.column();
  std::string_view name = line.word();
  auto found = std::find(kernel_.variables.begin(), kernel_.variables.end(), name);
  if (found == kernel_.variables.end()) line.fail_at(begin, fmt::format("`{}` is not a variable", name));
  return static_cast<std::uint32_t>(found - kernel_.variables.begin());
}

void KernelParser::add_variable(const std::string& name) {
  auto& all = kernel_.variables;
  if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
}

void KernelParser::add_tensor(Line& line) {
  TensorArgument tensor;
  tensor.name = line.name();
  line.expect(":");
  tensor.type = line.tensor_type();
  if (!names_.tensors.emplace(tensor.name, static_cast<std::uint32_t>(kernel_.tensors.size())).second)
    line.fail(fmt::format("two tensors are called `{}`", tensor.name));
  kernel_.tensors.push_back(std::move(tensor));
}

// kernel (x: f32[8]) -> (y: f32[8]) over (i)
void KernelParser::first_line() {
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

// The header mentions variables that are defined further down.
void KernelParser::find_definitions() {
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

void KernelParser::local(Line& line) {
  add_tensor(line);
  Local local;
  line.expect_word("holds");
  local.extents = line.integers();
  line.expect_word("at");
  local.origin = line.list("(", ")", [&] { return line.affine(kernel_.variables); });
  if (line.eat_word("reuses")) {
    const auto found = names_.tensors.find(line.name());
    if (found == names_.tensors.end()) line.fail("there is no such tensor");
    local.reuses = found->second;
  }
  kernel_.tensors.back().local = std::move(local);
}

// acc0: f32x16[4]
void KernelParser::accumulator(Line& line) {
  std::string expected = fmt::format("acc{}", kernel_.accumulators.size());
  std::size_t begin = line.column();
  if (line.word() != expected) line.fail_at(begin, fmt::format("expected `{}`", expected));
  line.expect(":");
  begin = line.column();
  std::string_view word = line.word();
  std::size_t times = word.find('x');
  auto type = element_type_named(word.substr(0, times));
  if (!type) line.fail_at(begin, fmt::format("`{}` is not an element type", word));
  Accumulator accumulator{*type};
  if (times != std::string_view::npos) accumulator.lanes = Line(word.substr(times + 1), line.number()).any_number();
  if (line.eat("[")) {
    accumulator.count = line.any_number();
    line.expect("]");
  }
  kernel_.accumulators.push_back(accumulator);
}

void KernelParser::section_dims(Line& line) {
  std::size_t number = line.any_number();
  if (number != 0 && number != kernel_.sections.size())
    line.fail(fmt::format("found section {}, expected section {}", number, kernel_.sections.size()));
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
bool KernelParser::declaration() {
  if (!at_block(1)) return false;
  std::string_view text = lines_[next_].text;
  Line one = line();
  if (one.eat_word("cut")) {
    std::uint32_t dim = variable(one);
    if (dim < 2 * kernel_.dims || dim >= 3 * kernel_.dims) one.fail("only a dim of the box can be split");
    kernel_.tile_dim = dim - 2 * kernel_.dims;
    one.expect_word("by");
    kernel_.grain = one.integer();
    one.expect_word("worth");
    kernel_.worth = one.integer();
  } else if (one.eat_word("exact")) {
    one.expect_word("arithmetic");
    kernel_.exact_arithmetic = true;
  } else if (one.eat_word("nontemporal")) {
    kernel_.tensors[cells(one).tensor()].non_temporal = true;
  } else if (one.eat_word("whole")) {
    TensorArgument& tensor = kernel_.tensors[cells(one).tensor()];
    tensor.whole = static_cast<std::uint32_t>(one.integer());
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

Kernel KernelParser::run() {
  first_line();
  find_definitions();
  while (declaration()) {}
  kernel_.body = body(lines_[0].indent);
  if (next_ < lines_.size()) line().fail("the kernel has ended before this line");
  return std::move(kernel_);
}

std::variant<Kernel, TextError> parse_kernel(std::string_view text) {
  try {
    return normal(KernelParser(text).run());
  } catch (const TextFailure& failure) { return TextError{failure.line, failure.message, failure.column}; }
}

}  // namespace tap::backend
