#include "ir/text/parse_line.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "ir/text_names.h"
#include "support/checked.h"

namespace tap::ir {
namespace {

bool is_word(char c) { return is_identifier(std::string_view(&c, 1)) || is_digit(c); }

std::size_t word_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_word(text[n])) ++n;
  return n;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

void Line::skip() {
  end_of_last_ = column();
  while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r')) rest_.remove_prefix(1);
  if (rest_.substr(0, 2) == "//") rest_ = {};
}

void Line::fail_at(std::size_t column, const std::string& message) const {
  throw TextFailure{number_, message, column};
}

// The rest of the line, for messages.
std::string Line::ahead() const {
  if (rest_.empty()) return "the end of the line";
  std::size_t length = std::min<std::size_t>(rest_.size(), 20);
  while (length < rest_.size() && (static_cast<unsigned char>(rest_[length]) & 0xc0) == 0x80) ++length;
  return fmt::format("`{}`", rest_.substr(0, length));
}

std::string_view Line::take(std::size_t length) {
  std::string_view found = rest_.substr(0, length);
  rest_.remove_prefix(found.size());
  skip();
  return found;
}

void Line::expect_end() {
  if (!at_end()) fail("expected the end of the line, found " + ahead());
}

bool Line::eat(std::string_view symbol) {
  if (rest_.substr(0, symbol.size()) != symbol) return false;
  rest_.remove_prefix(symbol.size());
  skip();
  return true;
}

void Line::expect(std::string_view symbol) {
  if (!eat(symbol)) fail(fmt::format("`{}` is missing before {}", symbol, ahead()));
}

bool Line::eat_word(std::string_view word) {
  if (rest_.substr(0, word_length(rest_)) != word) return false;
  return eat(word);
}

void Line::expect_word(std::string_view word) {
  if (!eat_word(word)) fail(fmt::format("`{}` is missing before {}", word, ahead()));
}

std::string_view Line::word() {
  std::string_view found = rest_.substr(0, word_length(rest_));
  if (!is_identifier(found)) return {};
  rest_.remove_prefix(found.size());
  skip();
  return found;
}

std::string Line::name() {
  if (!rest_.empty() && rest_[0] == '"') return quoted_text();
  std::string_view found = word();
  if (found.empty()) fail("a name is missing before " + ahead());
  return std::string(found);
}

std::string Line::quoted_text() {
  if (rest_.empty() || rest_[0] != '"') fail("expected a quoted string");
  std::string text;
  std::size_t at = 1;
  auto next = [&] {
    if (at >= rest_.size()) fail("unterminated quoted string");
    return rest_[at++];
  };
  for (char c = next(); c != '"'; c = next()) {
    if (c != '\\') {
      text += c;
      continue;
    }
    switch (char escape = next()) {
      case '"':
      case '\\': text += escape; break;
      case 'n': text += '\n'; break;
      case 'x': {
        int high = hex_digit(next()), low = hex_digit(next());
        if (high < 0 || low < 0) fail("`\\x` needs two hexadecimal digits");
        text += static_cast<char>(high * 16 + low);
        break;
      }
      default: fail(fmt::format("unknown escape `\\{}`", escape));
    }
  }
  rest_.remove_prefix(at);
  skip();
  return text;
}

std::uint64_t Line::magnitude() {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error == std::errc::result_out_of_range) fail("a number is too large");
  if (error != std::errc()) fail("a number is missing before " + ahead());
  rest_.remove_prefix(end - rest_.data());
  skip();
  return value;
}

std::int64_t Line::integer() {
  return bounded_integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
}

std::int64_t Line::bounded_integer(std::int64_t least, std::int64_t greatest) {
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error == std::errc::invalid_argument) fail("a number is missing before " + ahead());
  if (error != std::errc() || value < least || value > greatest)
    fail(fmt::format("a number is outside {}..{}", least, greatest));
  rest_.remove_prefix(end - rest_.data());
  skip();
  return value;
}

std::uint32_t Line::number_below(std::size_t limit, std::string_view what) {
  std::uint64_t n = magnitude();
  if (n >= limit) fail(fmt::format("number {} of {} {}", n, limit, what));
  return static_cast<std::uint32_t>(n);
}

std::uint32_t Line::any_number() { return number_below(0xffffffffu, "possible ones"); }

Range Line::range() {
  std::int64_t lo = integer();
  expect("..");
  return {lo, integer()};
}

// 4, or the boundaries [0, 100, 4096]
Blocks Line::blocks(std::string_view what) {
  if (!rest_.starts_with('[')) {
    const std::size_t begin = column();
    Blocks blocks{integer()};
    if (blocks.count < 1)
      fail_at(begin, fmt::format("{} must be split into at least one block, not {}", what, blocks.count));
    return blocks;
  }
  std::vector<std::int64_t> boundaries = integers();
  if (boundaries.size() < 2) fail("blocks need at least two boundaries");
  return {static_cast<std::int64_t>(boundaries.size()) - 1, std::move(boundaries)};
}

ElementType Line::element() {
  std::size_t begin = column();
  std::string_view name = word();
  auto type = element_type_named(name);
  if (!type) fail_at(begin, fmt::format("`{}` is not an element type", name));
  return *type;
}

TensorType Line::tensor_type() {
  ElementType type = element();
  return {type, integers()};
}

Scalar Line::scalar(ElementType type) {
  if (is_bool(type)) {
    if (eat_word("true")) return Scalar::boolean(true);
    expect_word("false");
    return Scalar::boolean(false);
  }
  if (is_integer(type)) return Scalar::integer(type, bounded_integer(least_integer(type), greatest_integer(type)));
  const char* end = rest_.data() + rest_.size();
  float narrow = 0;
  double value = 0;  // f32 and narrower types are printed as the shortest text of an f32, so parse them as one
  auto result = type == ElementType::f64 ? std::from_chars(rest_.data(), end, value)
                                         : std::from_chars(rest_.data(), end, narrow);
  if (result.ec != std::errc()) fail(fmt::format("{} is not a constant of {}", ahead(), name_of(type)));
  if (type != ElementType::f64) value = narrow;
  Scalar scalar = Scalar::floating(type, value);
  if (scalar != Scalar{type, 0, value})
    fail(fmt::format("`{}` is not exact in {}", rest_.substr(0, result.ptr - rest_.data()), name_of(type)));
  rest_.remove_prefix(result.ptr - rest_.data());
  skip();
  return scalar;
}

// i or #3
std::size_t Line::variable(const std::vector<std::string>& variables) {
  if (eat("#")) return number_below(variables.size(), "dims");
  std::string_view name = word();
  for (std::size_t d = 0; d < variables.size(); ++d)
    if (variables[d] == name) return d;
  fail(fmt::format("`{}` is not an index variable", name));
}

// Sums of 2*i, -j and 3; each variable once.
AffineExpr Line::affine(const std::vector<std::string>& variables) {
  AffineExpr e = AffineExpr::constant(variables.size(), 0);
  std::vector<bool> seen(variables.size() + 1, false);
  bool negative = eat("-");
  do {
    std::uint64_t size = 1;
    std::size_t position = variables.size();  // of the offset
    bool literal = !rest_.empty() && is_digit(rest_[0]);
    if (literal) size = magnitude();
    if (!literal || eat("*")) position = variable(variables);
    std::uint64_t limit = std::uint64_t{1} << 63;
    if (size > limit || (size == limit && !negative)) fail("a coefficient is too large");
    if (seen[position]) fail("a term occurs twice");
    seen[position] = true;
    auto value = static_cast<std::int64_t>(negative ? 0 - size : size);
    (position < variables.size() ? e.coefficients[position] : e.offset) = value;
    negative = eat("-");
  } while (negative || eat("+"));
  return e;
}

Constraint Line::constraint(const std::vector<std::string>& variables) {
  AffineExpr e = affine(variables);
  Comparison comparison = eat(">=") ? Comparison::at_least_zero : (expect("=="), Comparison::equal_zero);
  if (magnitude() != 0) fail("a constraint must compare with 0");
  return {std::move(e), comparison};
}

// model or model:(1)2
AxisName Line::axis_name() {
  AxisName axis{name(), {}};
  if (!eat(":")) return axis;
  expect("(");
  std::int64_t pre_size = integer();
  expect(")");
  axis.sub = SubAxis{pre_size, integer()};
  return axis;
}

AxisRef Line::axis_of(const Mesh& mesh) {
  const std::size_t begin = column();
  const AxisName axis = axis_name();
  const std::optional<AxisId> id = find_axis(mesh, axis.name);
  if (!id) fail_at(begin, fmt::format("the mesh {} has no axis {}", mesh.name, axis.name));
  return {*id, axis.sub};
}

MeshId Line::mesh_of(const std::vector<Mesh>& meshes) {
  const std::size_t begin = column();
  const std::string found = name();
  const std::optional<MeshId> mesh = find_mesh(meshes, found);
  if (!mesh) fail_at(begin, fmt::format("the mesh {} is not declared", found));
  return *mesh;
}

std::vector<AxisRef> Line::axes_in_braces(const Mesh& mesh, bool* open) {
  std::vector<AxisRef> axes;
  expect("{");
  if (eat("}")) return axes;
  do {
    if (open && eat("?")) {
      *open = true;
      break;
    }
    axes.push_back(axis_of(mesh));
  } while (eat(","));
  expect("}");
  return axes;
}

// pod[{data}, {model, ?}p1; replicated {x}; unreduced {y} by sum]
Sharding Line::sharding(const std::vector<Mesh>& meshes) {
  Sharding sharding;
  sharding.mesh = mesh_of(meshes);
  const Mesh& mesh = meshes[sharding.mesh.index()];
  expect("[");
  if (!rest_.empty() && rest_[0] == '{') do {
      DimSharding dim;
      dim.axes = axes_in_braces(mesh, &dim.open);
      if (eat("p")) dim.priority = integer();
      sharding.dims.push_back(std::move(dim));
    } while (eat(","));
  if (eat(";")) {
    bool replicated = eat_word("replicated");
    if (replicated) sharding.replicated = axes_in_braces(mesh, nullptr);
    if (!replicated || eat(";")) {
      expect_word("unreduced");
      sharding.unreduced = axes_in_braces(mesh, nullptr);
      expect_word("by");
      sharding.unreduced_monoid = name();
    }
  }
  expect("]");
  return sharding;
}

}  // namespace tap::ir
