// print and fmt: what they write means the same, and looks as it should.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "compiler/frontend/syntax/format.h"
#include "compiler/frontend/syntax/print_ast.h"
#include "compiler/frontend/syntax/tokens.h"
#include "frontend_test_support.h"

namespace tap {
namespace {

using testing::Parsed;

std::string formatted(const std::string& text) {
  SourceMap sources;
  FileId file = sources.add("test.tap", text);
  Diagnostics diagnostics;
  auto result = format_source(sources, file, {}, diagnostics);
  return result ? *result : render(diagnostics, sources, MessageFormat::human, false);
}

std::vector<std::filesystem::path> all_files() {
  auto files = testing::corpus();
  files.push_back(TAP_SOURCE_DIR "/lib/std.tap");
  for (const auto& entry : std::filesystem::directory_iterator(TAP_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".tap") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The comments of a text, each without its trailing space.
std::vector<std::string> comments(const std::string& text) {
  SourceMap sources;
  FileId file = sources.add("test.tap", text);
  Diagnostics diagnostics;
  auto list = tokenize(sources, whole_file(sources, file), {}, diagnostics);
  std::vector<std::string> result;
  for (const Comment& c : list->comments) {
    std::string comment = text.substr(c.begin, c.end - c.begin);
    comment.erase(comment.find_last_not_of(' ') + 1);
    result.push_back(comment);
  }
  return result;
}

TEST(Print, ParsesBackToTheSameTree) {
  for (const auto& path : all_files()) {
    Parsed p(testing::read_file(path));
    ASSERT_TRUE(p.module) << path << p.messages();
    std::string text = print(*p.module);
    Parsed again(text);
    ASSERT_TRUE(again.module) << text << again.messages();
    EXPECT_EQ(structure(*again.module), structure(*p.module)) << text;
    EXPECT_EQ(print(*again.module), text);
  }
}

TEST(Format, KeepsTreeAndCommentsAndIsIdempotent) {
  for (const auto& path : all_files()) {
    std::string text = testing::read_file(path);
    std::string once = formatted(text);
    EXPECT_EQ(formatted(once), once) << path;
    EXPECT_EQ(structure(*Parsed(text).module), structure(*Parsed(once).module)) << path;
    EXPECT_EQ(comments(text), comments(once)) << path;
  }
}

TEST(Print, FewestParentheses) {
  auto printed = [](const std::string& text) {
    Parsed p("op f(x: f32[n]) -> (y: f32[n]) { y[i] = " + text + " }");
    if (!p.module) return p.messages();
    return print(*p.module, std::get<ast::Equation>(std::get<ast::OpDecl>(p.decl(0).node).body.at(0).node).right);
  };
  EXPECT_EQ(printed("(((a)) + (b*c))"), "a + b * c");
  EXPECT_EQ(printed("a-(b-c)"), "a - (b - c)");
  EXPECT_EQ(printed("(a-b)-c"), "a - b - c");
  EXPECT_EQ(printed("(sum[k] x[k]) * 2"), "(sum[k] x[k]) * 2");
  EXPECT_EQ(printed("2 * (sum[k] x[k])"), "2 * sum[k] x[k]");
  EXPECT_EQ(printed("1 + (2 * (sum[k] x[k])) - 3"), "1 + 2 * (sum[k] x[k]) - 3");
  EXPECT_EQ(printed("(if a then b else c) + (if a then b else c)"), "(if a then b else c) + if a then b else c");
  EXPECT_EQ(printed("-(-a)"), "--a");
  EXPECT_EQ(printed("-(a*b)"), "-(a * b)");
  EXPECT_EQ(printed("not (a == b)"), "not a == b");
  EXPECT_EQ(printed("(not a) == b"), "(not a) == b");
  EXPECT_EQ(printed("(a < b) == (c < d)"), "(a < b) == (c < d)");
  EXPECT_EQ(printed("(a + b).v"), "(a + b).v");
  EXPECT_EQ(printed("m[k]((x[k]), 2)"), "m[k] (x[k], 2)");
  EXPECT_EQ(printed("f<(a < b), (c)>((x))"), "f<(a < b), c>(x)");
  EXPECT_EQ(printed("f((a < b), c > (d + e) * 2)"), "f(a < b, (c > (d + e) * 2))");
}

TEST(Format, Spaces) {
  EXPECT_EQ(formatted("op  f<a:int=1,e..:int>( x:T [ n,m.. ] )->( y : T[n] )where T:number{y[ i ]=-x[i,j]*( a+1 )}"),
            "op f<a: int = 1, e..: int>(x: T[n, m..]) -> (y: T[n]) where T: number { y[i] = -x[i, j] * (a + 1) }\n");
  EXPECT_EQ(formatted("program p(X:f32[n]@pod[{ a ,?}p1,{m :(1) 2};replicated{b}])->(){ split f # 1 on k into[ 0 .. "
                      "n+1,n+1 .. 9 ]over threads }"),
            "program p(X: f32[n] @ pod[{a, ?}p1, {m:(1)2}; replicated {b}]) -> () { split f#1 on k into [0..n+1, "
            "n+1..9] over threads }\n");
  EXPECT_EQ(
      formatted("op f()->(){y[2 * i+r]=m [k](x[k])+max(a ,b) for r in 0 .. 2*n ;s [ ]=sum [k]x[k else-1]-f< - 2 >(x)}"),
      "op f() -> () { y[2*i + r] = m[k] (x[k]) + max(a, b) for r in 0..2*n; s[] = sum[k] x[k else -1] - f<-2>(x) }\n");
}

TEST(Format, LinesCommentsAndIndentation) {
  EXPECT_EQ(formatted("\n\n// head\n\n\n\nuse std// all of it\ndim n=4  // size\n\n   /// Doc.   \nprogram "
                      "p(x:f32[n],\nw:f32[n])->(y:f32[n]){\n\n"
                      "u=iterate 3(v=x){\nw=f(v) /* in */\nw // last\n}\n// y\ny=u+\n1}\r\n// end"),
            "// head\n\nuse std    // all of it\ndim n = 4  // size\n\n/// Doc.\nprogram p(x: f32[n],\n        w: "
            "f32[n]) -> (y: f32[n]) {\n\n"
            "    u = iterate 3 (v = x) {\n        w = f(v) /* in */\n        w  // last\n    }\n    // y\n    y = u "
            "+\n            1 }\n// end\n");
}

// Random expressions: what is printed parses to the same tree, whatever stands inside what.
rc::Gen<std::string> expression(int depth) {
  auto leaf = rc::gen::element<std::string>("a", "b", "1", "2.5", "x[i, j]", "inf", "true", "t.v", "f(a)", "(i..)");
  if (depth == 0) return leaf;
  return rc::gen::exec([depth, leaf] {
    auto inner = [&] { return *expression(depth - 1); };
    auto grouped = [&] { return "(" + inner() + ")"; };
    switch (*rc::gen::inRange(0, 12)) {
      case 0: return *leaf;
      case 1:
      case 2:
      case 3: {
        std::string op = *rc::gen::element<std::string>("+", "-", "*", "/", "%", "==", "<", ">", "<=", "and", "or");
        return grouped() + " " + op + " " + grouped();
      }
      case 4: return "-" + grouped();
      case 5: return "not " + inner();
      case 6: return "if " + inner() + " then " + inner() + " else " + inner();
      case 7: return "let m = " + inner() + ", e[j] = " + inner() + " in " + inner();
      case 8: return *rc::gen::element<std::string>("sum[k] ", "max[k in 0..n, l] ") + inner();
      case 9: return "m[k] (" + inner() + ", " + inner() + ")";
      case 10: return "f<" + grouped() + ", p = " + grouped() + ">(" + inner() + ", " + inner() + ")";
      default: return "x[" + inner() + ", " + inner() + " else " + inner() + "]";
    }
  });
}

TEST(Print, RandomExpressions) {
  EXPECT_TRUE(rc::check([] {
    std::string text = "dim q = " + *expression(4);
    Parsed p(text);
    RC_PRE(p.module.has_value());
    std::string printed = print(*p.module);
    Parsed again(printed);
    RC_ASSERT(again.messages() == "");
    RC_ASSERT(structure(*again.module) == structure(*p.module));
    RC_ASSERT(print(*again.module) == printed);
    std::string laid_out = formatted(text);
    RC_ASSERT(structure(*Parsed(laid_out).module) == structure(*p.module));
    RC_ASSERT(formatted(laid_out) == laid_out);
  }));
}

}  // namespace
}  // namespace tap
