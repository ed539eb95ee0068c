#include "support/diagnostic_render.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tap {
namespace {

class Rendered : public ::testing::Test {
 protected:
  Span find(const std::string& text, const std::string& what) {
    file_ = sources_.add("a.tap", text);
    return again(what);
  }
  Span again(const std::string& what, std::size_t from = 0) {
    auto at = sources_.file(file_).text().find(what, from);
    EXPECT_NE(at, std::string::npos);
    return {file_, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + what.size())};
  }
  std::string human(const Diagnostic& d) { return render(d, sources_, MessageFormat::human, false); }

  SourceMap sources_;
  FileId file_;
};

TEST_F(Rendered, CaretLabelHelpAndFixedLine) {
  Span use = find("op relu() {}\n\n  H = reul(x)\n", "reul");
  Diagnostic d = Diagnostic(Code::unknown_name, use, "`reul` is not defined")
                     .at_caret("not defined")
                     .label(again("relu"), "`relu` is declared here")
                     .note("names are case-sensitive")
                     .help("did you mean `relu`?")
                     .fix(use, "relu");
  EXPECT_EQ(human(d),
            "a.tap:3:7: error[T0203]: `reul` is not defined\n"
            "  |\n"
            "3 |   H = reul(x)\n"
            "  |       ^^^^ not defined\n"
            "1 | op relu() {}\n"
            "  |    ---- `relu` is declared here\n"
            "note: names are case-sensitive\n"
            "help: did you mean `relu`?\n"
            "  |\n"
            "3 |   H = relu(x)\n"
            "  |       ~~~~\n");
}

TEST_F(Rendered, WithoutALocation) {
  EXPECT_EQ(human(Diagnostic(Code::command_line, Span{}, "no such option").help("see tapc --help")),
            "tapc: error[T1001]: no such option\nhelp: see tapc --help\n");
}

TEST_F(Rendered, WarningsAndRemarks) {
  Span s = find("x = 1e-400", "1e-400");
  EXPECT_TRUE(human({Code::literal_underflow, s, "m"}).starts_with("a.tap:1:5: warning[T0108]: m\n"));
  EXPECT_TRUE(human({Code::law_assumed, s, "m"}).starts_with("a.tap:1:5: remark[T0702]: m\n"));
}

TEST_F(Rendered, TwoSpansOnOneLineShowItOnce) {
  Span second = find("(a, a)", "a");
  second = again("a", 3);
  std::string text = human(Diagnostic(Code::duplicate_name, second, "twice").label(again("a"), "first"));
  EXPECT_EQ(text, "a.tap:1:5: error[T0201]: twice\n  |\n1 | (a, a)\n  |     ^\n  |  - first\n");
}

TEST_F(Rendered, TabsAndWideCharacters) {
  Span s = find("\t/* \u4f60\u597d \u00e9 */ bad", "bad");
  EXPECT_EQ(human({Code::syntax, s, "m"}),
            "a.tap:1:13: error[T0109]: m\n  |\n1 |     /* \u4f60\u597d \u00e9 */ bad\n  |                  ^^^\n");
}

TEST_F(Rendered, ControlCharactersAndBidiOverridesAreShownHarmless) {
  Span s = find("a\x1b[31m \u202e b", "b");
  std::string text = human({Code::syntax, s, "bad \x1b[0m byte"});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find("\u202e"), std::string::npos);
  EXPECT_NE(text.find("bad \\x1b[0m byte"), std::string::npos);
}

TEST_F(Rendered, InvalidUtf8) {
  Span s = find("x \xff\xc0\x80 y", "y");
  std::string text = human({Code::bad_byte, s, "m"});
  EXPECT_NE(text.find("1 | x \ufffd\ufffd\ufffd y\n  |       ^\n"), std::string::npos) << text;
}

TEST_F(Rendered, LongLineShowsAWindow) {
  std::string text(10'000'000, 'a');
  text.replace(5'000'000, 4, "HERE");
  Span s = find(text, "HERE");
  std::string shown = human({Code::syntax, s, "m"});
  EXPECT_LT(shown.size(), 500u);
  EXPECT_TRUE(shown.starts_with("a.tap:1:5000001: "));
  EXPECT_NE(shown.find("\n  | " + std::string(31, ' ') + "^^^^\n"), std::string::npos) << shown;
}

TEST_F(Rendered, SpanLongerThanTheWindowIsTruncated) {
  Span s = find(std::string(1'000'000, 'z'), "z");
  s.end = 1'000'000;
  EXPECT_LT(human({Code::syntax, s, "m"}).size(), 500u);
}

TEST_F(Rendered, AtTheEndOfTheFileAndInAnEmptyOne) {
  Span s = find("abc\n", "\n");
  EXPECT_EQ(human({Code::syntax, {file_, 4, 4}, "m"}), "a.tap:2:1: error[T0109]: m\n  |\n2 |\n  | ^\n");
  FileId empty = sources_.add("e.tap", "");
  EXPECT_EQ(human({Code::nothing_declared, {empty, 0, 0}, "m"}), "e.tap:1:1: error[T0101]: m\n  |\n1 |\n  | ^\n");
  EXPECT_NE(human({Code::syntax, s, "m"}).find("a.tap:1:4:"), std::string::npos);
}

TEST_F(Rendered, ASpanOverSeveralLinesMarksTheFirst) {
  Span s = find("x /* open\nmore", "/* open\nmore");
  EXPECT_EQ(human({Code::unterminated, s, "m"}), "a.tap:1:3: error[T0102]: m\n  |\n1 | x /* open\n  |   ^^^^^^^\n");
}

TEST_F(Rendered, CrLfAndByteOrderMark) {
  Span s = find("\xEF\xBB\xBFone\r\ntwo\rthree", "three");
  EXPECT_EQ(human({Code::syntax, s, "m"}), "a.tap:3:1: error[T0109]: m\n  |\n3 | three\n  | ^^^^^\n");
}

TEST_F(Rendered, SeveralFixesOnOneLineAreAppliedTogether) {
  Span call = find("y = f(a, b)", "f");
  std::string text = human(Diagnostic(Code::syntax, call, "m").fix(again("b"), "a").fix(again("a"), "b"));
  EXPECT_NE(text.find("help: write\n  |\n1 | y = f(b, a)\n"), std::string::npos) << text;
}

TEST_F(Rendered, FixMayInsertAndDeleteLines) {
  Span s = find("use\nprogram", "program");
  std::string text = human(Diagnostic(Code::syntax, s, "m").help("h").fix({file_, 4, 4}, "dim n = 1\n"));
  EXPECT_NE(text.find("2 | dim n = 1\n  | ~~~~~~~~~\n3 | program\n"), std::string::npos) << text;
  text = human(Diagnostic(Code::syntax, s, "m").help("h").fix({file_, 4, 8}, ""));
  EXPECT_NE(text.find("2 | ram\n"), std::string::npos) << text;
}

TEST_F(Rendered, ALabelInAnotherFileNamesIt) {
  FileId other = sources_.add("std.tap", "op relu\n");
  Span s = find("relu", "relu");
  std::string text = human(Diagnostic(Code::duplicate_name, s, "m").label({other, 3, 7}, "here"));
  EXPECT_NE(text.find(" --> std.tap:1:4:\n1 | op relu\n  |    ---- here\n"), std::string::npos) << text;
}

TEST_F(Rendered, ColourOnRequestOnly) {
  Span s = find("x", "x");
  Diagnostic d(Code::syntax, s, "m");
  EXPECT_EQ(human(d).find('\x1b'), std::string::npos);
  EXPECT_NE(render(d, sources_, MessageFormat::human, true).find("\x1b[1;31merror[T0109]:\x1b[0m"), std::string::npos);
}

TEST_F(Rendered, TooManyErrors) {
  Diagnostics diagnostics;
  for (int i = 0; i < 31; ++i) diagnostics.report({Code::syntax, Span{}, "m" + std::to_string(i)});
  std::string text = render(diagnostics, sources_, MessageFormat::human, false);
  EXPECT_TRUE(text.ends_with("tapc: error[T0109]: m19\ntoo many errors: the first 20 are shown\n")) << text;
}

TEST_F(Rendered, TooManyWarnings) {
  Diagnostics diagnostics;
  for (int i = 0; i < 20; ++i) diagnostics.report({Code::never_read, Span{}, "m" + std::to_string(i)});
  EXPECT_EQ(render(diagnostics, sources_, MessageFormat::human, false).find("too many"), std::string::npos);
  diagnostics.report({Code::never_read, Span{}, "m20"});
  diagnostics.report({Code::syntax, Span{}, "an error"});
  std::string text = render(diagnostics, sources_, MessageFormat::human, false);
  EXPECT_TRUE(text.ends_with("m19\ntapc: error[T0109]: an error\ntoo many warnings: the first 20 are shown\n")) << text;
  text = render(diagnostics, sources_, MessageFormat::json, false);
  auto last = nlohmann::json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
  EXPECT_EQ(last["severity"], "warning");
  EXPECT_EQ(last["message"], "too many warnings: the first 20 are shown");
}

TEST_F(Rendered, JsonIsOneObjectPerLine) {
  Span s = find("ab \"\\\n  H = \u00e9 reul", "reul");
  Diagnostics diagnostics;
  diagnostics.report(Diagnostic(Code::unknown_name, s, "no \"reul\"\n\x01 \xff")
                         .at_caret("c")
                         .label(again("H"), "l")
                         .note("n")
                         .help("h")
                         .fix(s, "relu"));
  for (int i = 0; i < 20; ++i) diagnostics.report({Code::syntax, Span{}, "m" + std::to_string(i)});
  std::string text = render(diagnostics, sources_, MessageFormat::json, false);
  std::vector<nlohmann::json> lines;
  for (std::size_t at = 0; at < text.size();) {
    auto end = text.find('\n', at);
    lines.push_back(nlohmann::json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 21u);
  const auto& first = lines[0];
  EXPECT_EQ(first["file"], "a.tap");
  EXPECT_EQ(first["line"], 2);
  EXPECT_EQ(first["column"], 9);
  EXPECT_EQ(first["end_column"], 13);
  EXPECT_EQ(first["severity"], "error");
  EXPECT_EQ(first["code"], "T0203");
  EXPECT_EQ(first["message"], "no \"reul\"\n\x01 \ufffd");
  EXPECT_EQ(first["caret"], "c");
  EXPECT_EQ(first["labels"][0]["text"], "l");
  EXPECT_EQ(first["notes"], nlohmann::json::array({"n"}));
  EXPECT_EQ(first["help"], "h");
  EXPECT_EQ(first["fixes"][0]["replacement"], "relu");
  EXPECT_EQ(first["fixes"][0]["begin"], s.begin);
  EXPECT_TRUE(lines[1]["file"].is_null());
  EXPECT_EQ(lines[20]["message"], "too many errors: the first 20 are shown");
}

}  // namespace
}  // namespace tap
