// What the checker itself finds of the legality of a source: what is refused, what is proved, and what is left open.
#include <gtest/gtest.h>

#include "check/check.h"
#include "ir/graph.h"
#include "ir/text.h"

namespace tap::check {
namespace {

// A program of operators that are given as they print, each of which writes the value `y` from `x`.
std::string findings_of(const std::string& shape, const std::vector<std::string>& operators) {
  std::string text = "tap-ir 1\n",
              graph = "graph 0 p\n  value 0 x i64[8]\n  value 1 y i64" + shape + "\n  inputs (0)\n  outputs (1)\n";
  for (std::size_t k = 0; k < operators.size(); ++k) {
    text += "operator " + std::to_string(k) + " f\n" + operators[k];
    graph += "  do " + std::to_string(k) + " (0) -> (1)\n";
  }
  auto parsed = ir::parse_program(text + graph + "main 0\n");
  if (auto* error = std::get_if<ir::TextError>(&parsed))
    return "line " + std::to_string(error->line) + ": " + error->message;
  Verdict verdict;
  check_source(std::get<ir::Program>(parsed), false, verdict);
  for (const Finding& finding : verdict.findings)
    if (finding.standing != Standing::proved)
      return (finding.standing == Standing::refused ? "refused: " : "assumed: ") + finding.detail;
  return "";
}
// A map over these dims that reads x at one place, under a condition or without.
std::string map(const std::string& dims, const std::string& read, const std::string& write,
                const std::string& shape = "[8]", const std::string& cells = "  cell 0 = read i64 0\n",
                const std::string& value = "0") {
  return dims + "  operand i64[8]\n  result i64" + shape + "\n" + cells + "  read 0 at [" + read +
         "] shape [1]\n  write 0 at [" + write + "] shape [1]\n  map (" + value + ")\n";
}
const std::string i = "  dim i 0..8 parallel\n";

TEST(LegalSource, ReadsInside) {
  EXPECT_EQ(findings_of("[8]", {map(i, "i", "i")}), "");
  EXPECT_EQ(findings_of("[8]", {map(i, "-i + 7", "i")}), "");
  EXPECT_EQ(findings_of("[8]", {map(i, "i + 3", "i")}), "refused: read 0 of `f` leaves its tensor on axis 0, at 8");
  EXPECT_EQ(findings_of("[8]", {map(i, "i - 1", "i")}), "refused: read 0 of `f` leaves its tensor on axis 0, at -1");
  EXPECT_EQ(findings_of("[8]", {map(i, "i + 1000000000000", "i")}),
            "refused: read 0 of `f` leaves its tensor on axis 0, at 1000000000000");
}

TEST(LegalSource, GuardsCount) {
  const std::string cells =
      "  cell 0 = index i64 0\n  cell 1 = constant i64 0\n  cell 2 = less bool (1, 0)\n  cell 3 = read i64 0\n"
      "  cell 4 = select i64 (2, 3, 1)\n";
  EXPECT_EQ(findings_of("[8]", {map(i, "i - 1", "i", "[8]", cells, "4")}), "");
  EXPECT_EQ(findings_of("[8]", {map(i, "i - 2", "i", "[8]", cells, "4")}),
            "refused: read 0 of `f` leaves its tensor on axis 0, at -1");
  // The other branch is read where the condition is false.
  const std::string other =
      "  cell 0 = index i64 0\n  cell 1 = constant i64 0\n  cell 2 = less bool (1, 0)\n  cell 3 = read i64 0\n"
      "  cell 4 = select i64 (2, 1, 3)\n";
  EXPECT_EQ(findings_of("[8]", {map(i, "i + 7", "i", "[8]", other, "4")}), "");
  EXPECT_EQ(findings_of("[8]", {map(i, "i + 8", "i", "[8]", other, "4")}),
            "refused: read 0 of `f` leaves its tensor on axis 0, at 8");
}

// x is read where the last of these cells says so, which are numbered from 5 on: 0 is i, 2 is 8, 3 is 8 - i and 4 is 3.
std::string guarded(const std::vector<std::string>& condition, const std::string& read) {
  std::vector<std::string> all = {"index i64 0", "neg i64 (0)", "constant i64 8", "add i64 (1, 2)", "constant i64 3"};
  all.insert(all.end(), condition.begin(), condition.end());
  const std::string last = std::to_string(all.size() - 1), own = std::to_string(all.size());
  all.insert(all.end(), {"read i64 0", "select i64 (" + last + ", " + own + ", 4)"});
  std::string cells;
  for (std::size_t k = 0; k < all.size(); ++k) cells += "  cell " + std::to_string(k) + " = " + all[k] + "\n";
  return findings_of("[8]", {map(i, read, "i", "[8]", cells, std::to_string(all.size() - 1))});
}

// A comparison that no point of the box fulfils is no way to a read, however many conditions are nested: with eight choices
// between such, each way that cannot be would double the others.
TEST(LegalSource, ComparisonsDecidedByTheBox) {
  std::string cells = "  cell 0 = index i64 0\n  cell 1 = constant i64 9\n  cell 2 = less bool (1, 0)\n";
  std::size_t last = 2;
  for (int nested = 0; nested < 8; ++nested, ++last)
    cells += "  cell " + std::to_string(last + 1) + " = select bool (" + std::to_string(last) + ", " +
             std::to_string(last) + ", 2)\n";
  const std::string read = std::to_string(last + 1), value = std::to_string(last + 2);
  cells += "  cell " + read + " = read i64 0\n  cell " + value + " = select i64 (" + std::to_string(last) + ", " +
           read + ", 1)\n";
  EXPECT_EQ(findings_of("[8]", {map(i, "i + 100", "i", "[8]", cells, value)}), "");
}

TEST(LegalSource, GuardsOfAllForms) {
  struct Case {
    std::vector<std::string> condition;
    const char *inside, *outside;
    int at;
  };
  for (const auto& [condition, inside, outside, at] : std::vector<Case>{
           {{"less_equal bool (4, 3)"}, "i + 2", "i + 3", 8},  // 3 <= 8 - i
           {{"less bool (4, 3)"}, "i + 3", "i + 4", 8},
           {{"less_equal bool (3, 4)", "logical_not bool (5)"}, "i + 3", "i + 4", 8},
           {{"equal bool (0, 4)"}, "2*i + 1", "2*i + 2", 8},
           {{"not_equal bool (0, 4)", "logical_not bool (5)"}, "2*i - 6", "2*i - 7", -1},
           {{"less bool (0, 4)", "less bool (4, 3)", "logical_and bool (5, 6)"}, "i + 5", "i + 6", 8},
           {{"less bool (0, 4)", "less bool (4, 0)", "logical_or bool (5, 6)", "logical_not bool (7)"},
            "2*i + 1",
            "2*i + 2",
            8},
           {{"less_equal bool (0, 4)", "not_equal bool (0, 4)", "logical_and bool (5, 6)"}, "i + 5", "i + 6", 8},
           {{"less bool (0, 4)", "equal bool (0, 4)", "logical_or bool (5, 6)"}, "i + 4", "i + 5", 8},
           {{"less bool (0, 4)", "less bool (0, 2)", "constant bool false", "select bool (5, 6, 7)"},
            "i + 5",
            "i + 6",
            8},
       }) {
    EXPECT_EQ(guarded(condition, inside), "") << condition.back();
    EXPECT_EQ(guarded(condition, outside),
              "refused: read 0 of `f` leaves its tensor on axis 0, at " + std::to_string(at))
        << condition.back();
  }
  // What wraps says nothing.
  const std::vector<std::string> wraps = {"constant i64 4611686018427387904", "mul i64 (5, 0)", "less bool (6, 4)"};
  EXPECT_EQ(guarded(wraps, "i"), "");
  EXPECT_EQ(guarded(wraps, "i + 1"), "refused: read 0 of `f` leaves its tensor on axis 0, at 8");
}

// A fill is read where what it stands for lies outside, and only there.
TEST(LegalSource, FillsAreReadOutsideOnly) {
  auto filled = [](const std::string& fill) {
    return findings_of("[16]", {"  dim i 0..16 parallel\n  operand i64[8]\n  result i64[16]\n  cell 0 = read i64 0\n"
                                "  cell 1 = read i64 1\n  read 0 at [i] shape [1] else 1\n  read 0 at [" +
                                fill + "] shape [1]\n  write 0 at [i] shape [1]\n  map (0)\n"});
  };
  EXPECT_EQ(filled("i - 8"), "");
  EXPECT_EQ(filled("-i + 15"), "");
  EXPECT_EQ(filled("i - 9"), "refused: read 1 of `f` leaves its tensor on axis 0, at -1");
  EXPECT_EQ(filled("i - 7"), "refused: read 1 of `f` leaves its tensor on axis 0, at 8");
}

TEST(LegalSource, EveryCellIsWrittenOnce) {
  const std::string half = "  dim i 0..4 parallel\n";
  EXPECT_EQ(findings_of("[8]", {map(half, "i", "i"), map(half, "i", "i + 4")}), "");
  EXPECT_EQ(findings_of("[8]", {map(half, "i", "2*i"), map(half, "i", "2*i + 1")}), "");
  EXPECT_EQ(findings_of("[8]", {map(half, "i", "2*i"), map(half, "i", "2*i")}),
            "refused: `f` writes cell 0 a second time");
  EXPECT_EQ(findings_of("[8]", {map(half, "i", "i"), map(half, "i", "i + 3")}),
            "refused: `f` writes cell 3 a second time");
  EXPECT_EQ(findings_of("[8]", {map(half, "i", "i")}), "refused: cell 4 is never written");
  EXPECT_EQ(findings_of("[8]", {map(i, "i", "i + 64")}), "refused: `f` writes outside its result: at 64 on axis 0");
  EXPECT_EQ(findings_of("[8]", {map(i, "i", "i - 1")}), "refused: `f` writes outside its result: at -1 on axis 0");
}

// What is too much to be counted and of no simple form is neither refused nor proved.
TEST(LegalSource, UndecidedWritesAreAssumed) {
  const std::string many = "  dim i 0..2000000 parallel\n", shape = "[4000000]";
  const std::string even = many + "  operand i64[8]\n  result i64" + shape +
                           "\n  cell 0 = constant i64 1\n  write 0 at [2*i] shape [1]\n  map (0)\n";
  std::string odd = even;
  odd.replace(odd.find("2*i"), 3, "2*i + 1");
  EXPECT_EQ(findings_of(shape, {even, odd}), "assumed: every cell of `y` is written once");
}

TEST(LegalSource, InvariantDims) {
  const std::string dims = "  dim i 0..8 parallel\n  dim j 0..3 parallel\n";
  auto writes = [&](const std::string& read) {
    return dims + "  operand i64[8]\n  result i64[8]\n  cell 0 = read i64 0\n  read 0 at [" + read +
           "] shape [1]\n  write 0 at [i] shape [1] invariant [1]\n  map (0)\n";
  };
  EXPECT_EQ(findings_of("[8]", {writes("i")}), "");
  EXPECT_EQ(findings_of("[8]", {writes("j")}), "refused: write 0 depends on j, which it declares invariant");
}

}  // namespace
}  // namespace tap::check
