// What a user is told about text that is no Tap: each code, its place, its words, and that its fix fixes it.
#include <gtest/gtest.h>

#include "frontend_test_support.h"

namespace tap {
namespace {

using testing::Parsed;

std::string in_op(const std::string& body) { return "op f(x: f32[n]) -> (y: f32[n]) { " + body + " }"; }
std::string in_program(const std::string& body) { return "program f(x: f32[n]) -> (y: f32[n]) { " + body + " }"; }

struct Case {
  std::string text;
  Code code;
  std::string at;       // the text of the span
  std::string message;  // a part of it
};

class SyntaxErrors : public ::testing::TestWithParam<Case> {};

TEST_P(SyntaxErrors, AreReported) {
  const Case& c = GetParam();
  Parsed p(c.text);
  EXPECT_FALSE(p.module);
  ASSERT_FALSE(p.diagnostics.all().empty());
  const Diagnostic& d = p.diagnostics.all()[0];
  EXPECT_EQ(info(d.code).id, info(c.code).id) << p.messages();
  EXPECT_EQ(p.text(d.span), c.at) << p.messages();
  EXPECT_NE(d.message.find(c.message), std::string::npos) << p.messages();
  EXPECT_EQ(p.diagnostics.error_count(), 1u) << p.messages();
}

// A fix, applied, leaves a text that parses.
TEST_P(SyntaxErrors, FixesParse) {
  Parsed p(GetParam().text);
  for (const Diagnostic& d : p.diagnostics.all()) {
    if (d.fixes.empty()) continue;
    std::string text = GetParam().text;
    for (auto fix = d.fixes.rbegin(); fix != d.fixes.rend(); ++fix)
      text.replace(fix->span.begin, fix->span.end - fix->span.begin, fix->replacement);
    Parsed fixed(text);
    EXPECT_TRUE(fixed.module) << text << "\n" << fixed.messages();
  }
}

const Case cases[] = {
    // Bytes and tokens.
    {"", Code::nothing_declared, "", "the file declares no operator"},
    {"// only\n/* comments */\n", Code::nothing_declared, "", "the file declares no operator"},
    {"tap 1\n", Code::nothing_declared, "", "the file declares no operator"},
    {std::string("op f\0", 5), Code::bad_byte, std::string(1, '\0'), "byte 0x00 at offset 4"},
    {"// \xC0\xAF", Code::bad_byte, "\xC0", "byte 0xc0 at offset 3"},
    {"op \x80", Code::bad_byte, "\x80", "byte 0x80 at offset 3"},
    {"use \"\xED\xA0\x80\"", Code::bad_byte, "\xED", "offset 5"},
    {"/* \xF4\x90\x80\x80 */", Code::bad_byte, "\xF4", "offset 3"},
    {"// a\n// \xE2\x80\xAE b\nuse std", Code::reading_direction, "\xE2\x80\xAE", "U+202E"},
    {in_op("\xC3\xA9[i] = x[i]"), Code::not_ascii_name, "\xC3\xA9", "not ASCII"},
    {in_op("y[i] = x[i] && 1"), Code::syntax, "&&", "no meaning"},
    {in_op("y[i] = x[i] \x01"), Code::syntax, "\x01", "control character 0x01"},
    {"extern op f() -> (y: f32[n]) { index [i: n] write y at [i] shape [1] kernel \"abc\n}", Code::unterminated,
     "\"abc", "string is not closed"},
    {"use std /* a\n * b", Code::unterminated, "/*", "comment is not closed"},
    {in_op("y[i] = (x[i]"), Code::unterminated, "(", "this `(` is not closed"},
    {"op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i]", Code::unterminated, "{", "this `{` is not closed"},
    {in_op("y[i] = x[i])"), Code::syntax, ")", "this `)` has no opening bracket"},
    {in_op("y[i] = x[i] }"), Code::syntax, "}", "this `}` has no opening bracket"},
    {in_op("y[i] = 0x1F"), Code::literal_form, "0x1F", "not a valid number"},
    {in_op("y[i] = 1_000"), Code::literal_form, "1_000", "not a valid number"},
    {in_op("y[i] = 0x"), Code::literal_form, "0x", "not a valid number"},
    {in_op("y[i] = 0x1.8p+3"), Code::literal_form, "0x1.8p+3", "not a valid number"},
    {in_op("y[i] = 1."), Code::literal_form, "1.", "both sides of the dot"},
    {in_op("y[i] = .5"), Code::literal_form, ".5", "both sides of the dot"},
    {in_op("y[i] = 2x"), Code::literal_form, "2x", "not a valid number"},
    {in_op("y[i] = 9223372036854775808"), Code::literal_out_of_range, "9223372036854775808", "does not fit in 64 bits"},
    {in_op("y[i] = 18446744073709551616"), Code::literal_out_of_range, "18446744073709551616",
     "does not fit in 64 bits"},
    {in_op("y[i] = 1" + std::string(1000, '0')), Code::literal_out_of_range, "1" + std::string(1000, '0'), "00000..."},
    {in_op("y[i] = 2 -9223372036854775808"), Code::literal_out_of_range, "9223372036854775808", "does not fit"},
    {in_op("y[i] = 1e400"), Code::literal_out_of_range, "1e400", "out of range for f64"},
    {in_op("y[i] = 1e99999999999999999999"), Code::literal_out_of_range, "1e99999999999999999999",
     "out of range for f64"},
    // Nesting.
    {in_op("y[i] = " + std::string(100000, '(') + "1" + std::string(100000, ')')), Code::nesting_too_deep, "(",
     "brackets are nested more than 256 deep"},
    {in_op("y[i] = " + std::string(100000, '-') + "1"), Code::nesting_too_deep, "-",
     "more than 256 prefix operators follow each other"},
    // Declarations.
    {"tap 2\nuse std", Code::version_too_new, "2", "version 2 of Tap; this compiler supports version 1"},
    {"y[i] = x[i]", Code::syntax, "y", "where a declaration was expected"},
    {"prgram f() -> () { y = x }", Code::syntax, "prgram", "where a declaration was expected"},
    {"def f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] }", Code::syntax, "def", "where a declaration was expected"},
    {"op (x: f32[n]) -> () {}", Code::syntax, "(", "where a name was expected after `op`"},
    {"op f(x: f32[n]) (y: f32[n]) {}", Code::syntax, "(", "where `->` was expected"},
    {"op f(x) -> (y: f32[n]) {}", Code::syntax, ")", "where `:` was expected"},
    {"op f(x: f32) -> (y: f32[n]) {}", Code::syntax, ")", "where `[` was expected"},
    {"op f(x: f32[n]) -> (y: f32[n]) where T + 1: number {}", Code::syntax, "T + 1", "name of a generic type"},
    {"mesh m = [a: b]", Code::syntax, "b", "where an integer was expected"},
    {"monoid m(v: f32) { identity 0 }", Code::bad_monoid, "m", "no `combine`"},
    {"monoid m(v: f32) { combine (a, b) = a }", Code::bad_monoid, "m", "no `identity`"},
    {"monoid m(v: f32) { identity 0 identity 1 combine (a, b) = a }", Code::bad_monoid, "identity 1", "written twice"},
    {"monoid m(v: f32) { identity 0 combine (a, b, c) = a }", Code::bad_monoid, "combine",
     "takes two elements; this one takes 3"},
    {"monoid m<a: int>(v: f32) { identity 0 combine (a, b) = a }", Code::syntax, "<a: int>", "no `<…>` parameters"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n] write y at [i] shape [1] }", Code::syntax, "f",
     "no `kernel`"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n] kernel \"k\" }", Code::syntax, "f", "no `write`"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { write y at [i] shape [1] kernel \"k\" }", Code::syntax, "f",
     "no `index`"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [reduce i: n] write y at [0] shape [1] kernel \"k\" }",
     Code::syntax, "reduce i: n", "has no monoid"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n by sum] write y at [0] shape [1] kernel \"k\" }",
     Code::syntax, "i: n by sum", "only a `reduce` dim"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n] write y at [i] shape [1] else 0 kernel \"k\" }",
     Code::syntax, "0", "only reads"},
    {"extern op f(x: f32[n]) -> (y: f32[n]) { index [i: n] kernel \"k\" kernel \"l\" write y at [i] shape [1] }",
     Code::syntax, "kernel \"l\"", "written twice"},
    // Statements.
    {in_op("y[i] = "), Code::syntax, "}", "where an expression was expected"},
    {in_op("y[i] x[i]"), Code::syntax, "y[i]", "this defines no value"},
    {in_op("return x"), Code::syntax, "return", "Tap has no `return`"},
    {in_op("f(x) = 3"), Code::syntax, "f(x)", "a call cannot be defined"},
    {in_op("a.b = 3"), Code::syntax, "a.b", "a left side is"},
    {in_op("(a, b[i]) = x"), Code::syntax, "(a, b[i]) = x", "mixes cells and whole tensors"},
    {in_op("(a, 1) = x"), Code::syntax, "1", "names or cells"},
    {in_op("y[i else 0] = 1"), Code::syntax, "0", "only reads"},
    {in_op("y = x for i in 0..n"), Code::syntax, "i in 0..n", "`for` belongs to equations over cells"},
    {in_op("y[i] = x[i] @ pod[{a}]"), Code::syntax, "@ pod[{a}]", "belongs to a whole tensor"},
    {in_op("let a = 3\n y[i] = a"), Code::syntax, "y", "`in` of this `let`"},
    {in_program("barrier H sideways"), Code::syntax, "sideways", "forward"},
    {in_program("split H into 4"), Code::syntax, "into", "where `on` was expected"},
    {in_program("Y = x @ pod[{a, ?, b}]"), Code::syntax, "b", "`?` must come last"},
    {in_program("Y = x @ pod[{a}q]"), Code::bad_priority, "q", "`p1`"},
    {in_program("Y = x @ pod[{a}p99999999999999999999]"), Code::bad_priority, "p99999999999999999999",
     "the largest is `p999999999`"},
    {in_program("Y = x @ pod[{a}; replicated {b}; replicated {c}]"), Code::syntax, "replicated {c}", "written twice"},
    {in_program("y = iterate 50 (v = x) { w = step(v) }"), Code::syntax, "}", "has no result"},
    {in_program("y = iterate 50 (v = x) { }"), Code::syntax, "}", "has no result"},
    {in_program("y = iterate 2 in 0..3 (v = x) { v }"), Code::syntax, "2", "counter of an `iterate` must be a name"},
    // Expressions.
    {in_op("y[i] = if x[i] > 0 x[i] else 0"), Code::syntax, "x", "`then` of this `if`"},
    {in_op("y[i] = if x[i] > 0 then x[i]"), Code::syntax, "}", "`else` of this `if`"},
    {in_op("y[i] = if x[i] = 0 then 1 else 0"), Code::syntax, "=", "`==` compares values"},
    {in_op("y[i] = if 0 < x[i] < 1 then 1 else 0"), Code::comparison_chain, "<", "do not chain"},
    {in_op("y[i] = if a == b != c + 1 then 1 else 0"), Code::comparison_chain, "!=", "do not chain"},
    {in_op("y[i] = 1 + not x[i]"), Code::syntax, "not", "binds less tightly"},
    {in_op("y[i] = x[i] * / 2"), Code::syntax, "/", "where an expression was expected"},
    {in_op("y[i] = f(x[i] 2)"), Code::syntax, "2", "where `,` or `)` was expected"},
    {in_op("y[i] = sum[k x[k]"), Code::unterminated, "[", "not closed"},
    {in_op("y[i] = sum[k = 3] x[k]"), Code::syntax, "=", "where"},
    {in_op("y[i] = sum[k.. in 0..3] x[k..]"), Code::syntax, "k.. in 0..3", "a pack cannot have a range"},
    {in_op("y[i] = \"text\""), Code::syntax, "\"text\"", "a string is not a value"},
    {in_op("y[i] = std.x[i]"), Code::syntax, "std.x", "plain name"},
    {in_op("y[i] = f(x)..  "), Code::syntax, "..", "where"},
    {in_op("y[i] = x[f(x)..]"), Code::syntax, "f(x)..", "name of a pack"},
    {in_op("y[i] = f<2 + 1 = 3>(x)"), Code::syntax, "2 + 1", "name of a parameter"},
    {in_program("y = f(x = 3)"), Code::syntax, "(", "arguments are positional"},
};
INSTANTIATE_TEST_SUITE_P(All, SyntaxErrors, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::to_string(info.index); });

TEST(SyntaxErrorPlaces, LinesAndColumns) {
  auto first_line = [](const std::string& text) {
    Parsed p(text);
    std::string messages = p.messages();
    return messages.substr(0, messages.find(": error"));
  };
  std::string bad = "op f(x: f32[n]) -> (y: f32[n]) { y[i] = ^ }";
  EXPECT_EQ(first_line(bad), "test.tap:1:41");
  EXPECT_EQ(first_line("\xEF\xBB\xBF" + bad), "test.tap:1:41");
  EXPECT_EQ(first_line("\r\n\r\n" + bad + "\r\n"), "test.tap:3:41");
  EXPECT_EQ(first_line("\r\r" + bad + "\r"), "test.tap:3:41");
  EXPECT_EQ(first_line("/* \xC3\xA9 */ " + bad), "test.tap:1:49");
}

TEST(SyntaxErrorPlaces, ByteOrderMarkAndLineEndsAreAccepted) {
  EXPECT_TRUE(Parsed("\xEF\xBB\xBFuse std\r\ndim a = 1\rdim b = 2\n").module);
}

TEST(SyntaxErrors, UnderflowIsAWarning) {
  for (std::string text : {"1e-400", "0.00001e-399999999999999999999"}) {
    Parsed p(in_op("y[i] = " + text));
    EXPECT_TRUE(p.module);
    ASSERT_EQ(p.diagnostics.all().size(), 1u);
    EXPECT_EQ(p.diagnostics.all()[0].code, Code::literal_underflow);
  }
  EXPECT_EQ(Parsed(in_op("y[i] = 0e-400 + 0.0e999 + 5e-324")).messages(), "");
}

TEST(SyntaxErrors, LongChainsAreRefusedWithoutOverflow) {
  auto repeated = [](const std::string& text) {
    std::string all;
    for (int i = 0; i < 100000; ++i) all += text;
    return all;
  };
  for (const std::string& text :
       {repeated("1 + ") + "1", repeated("if a then b else ") + "1", repeated("sum[k] ") + "1",
        repeated("let a = ") + "1", repeated("not ") + "1", repeated("a<") + "1",
        repeated("a<") + "1" + repeated(">(x)"), "a" + repeated(".b"), repeated("2 * -") + "1"}) {
    Parsed p(in_op("y[i] = " + text));
    EXPECT_FALSE(p.module);
    ASSERT_EQ(p.diagnostics.all().size(), 1u);
    EXPECT_EQ(p.diagnostics.all()[0].code, Code::nesting_too_deep) << p.messages();
  }
}

TEST(SyntaxErrors, LimitsAreOptions) {
  ParseLimits limits;
  limits.max_nesting = 4;
  EXPECT_TRUE(Parsed(in_op("y[i] = ((1))"), limits).module);
  Parsed deep(in_op("y[i] = ((((1))))"), limits);
  EXPECT_NE(deep.messages().find("brackets are nested more than 4 deep"), std::string::npos);
  limits.max_file_bytes = 10;
  Parsed large("use standard", limits);
  ASSERT_EQ(large.diagnostics.all().size(), 1u);
  EXPECT_EQ(large.diagnostics.all()[0].code, Code::file_too_large);
}

TEST(Recovery, ReportsEveryStatementAndDeclaration) {
  Parsed p(
      "op f(x: f32[n]) -> (y: f32[n]) {\n  y[i] = x[i] +\n  z[i] = * 3\n  v[i] = g(x[i], (1 2), 3)\n  w[i] = if a b\n  "
      "q[i] = x[i]\n}\n"
      "op g(x) -> (y: f32[n]) { y[i] = }\ndim = 4\nextern op k() -> () { kernel 4 }\nop h(x: f32[n]) -> (y: f32[n]) { "
      "y[i] = 1 2 }");
  std::string positions;
  for (const Diagnostic& d : p.diagnostics.all()) {
    Position at = p.sources.file(p.file).position(d.span.begin);
    positions += std::to_string(at.line) + ":" + std::to_string(at.column) + " ";
  }
  // `+` takes in the next line's `z[i]`. Behind the broken `op g` parsing goes on at the next line that begins with a
  // declaration's word, also where its name is missing.
  EXPECT_EQ(positions, "3:8 4:21 5:15 8:7 9:5 10:30 11:43 ") << p.messages();
}

TEST(Recovery, BracketErrorsDoNotHideOtherDeclarations) {
  Parsed p("op f(x: f32[n]) -> (y: f32[n]) { y[i] = (x[i }\nop g(x) -> () {}");
  ASSERT_EQ(p.diagnostics.error_count(), 3u) << p.messages();
  EXPECT_EQ(p.text(p.diagnostics.all()[0].span), "[");
  EXPECT_EQ(p.text(p.diagnostics.all()[1].span), "(");
  EXPECT_EQ(p.text(p.diagnostics.all()[2].span), ")");
}

// What is no token is left out, and what does not fit beside it is not told again; all else is.
TEST(Recovery, FaultsDoNotHideOtherStatements) {
  Parsed p(
      "op f(x: f32[n]) -> (y: f32[n]) {\n  a[i] = x[i] && 1\n  b[i] = 0x10 * x[i]\n  c[i] = * 2\n  y[i] = x[i] ^\n}");
  std::string positions;
  for (const Diagnostic& d : p.diagnostics.all()) positions += p.text(d.span) + " ";
  EXPECT_EQ(positions, "&& 0x10 ^ * ") << p.messages();
}

// Row A18: a valid program cut at any byte, or with any byte changed, is accepted or refused, never worse.
TEST(Truncation, AtEveryByte) {
  for (const auto& path : testing::corpus()) {
    std::string text = testing::read_file(path);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      Parsed p(text.substr(0, i));
      EXPECT_TRUE(p.module || p.diagnostics.has_errors());
    }
  }
}

TEST(Truncation, EveryByteChanged) {
  std::string text = testing::read_file(TAP_SOURCE_DIR "/tests/frontend/data/meshes.tap");
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (char c : {'(', '}', '"', '/', '=', '<', '.', '0', '\n', '\xFF'}) {
      std::string changed = text;
      changed[i] = c;
      Parsed p(changed);
      EXPECT_TRUE(p.module || p.diagnostics.has_errors());
    }
  }
}

}  // namespace
}  // namespace tap
