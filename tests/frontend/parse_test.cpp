// Text to syntax tree: every example of the language, and what the tree of each form holds.
#include <gtest/gtest.h>

#include "compiler/frontend/syntax/print_ast.h"
#include "frontend_test_support.h"
#include "grammar_check.h"

namespace tap {
namespace {

using testing::Parsed;

// The tree of the right side of `y[i] = TEXT`.
std::string tree(const std::string& text) {
  Parsed p("op f(x: f32[n]) -> (y: f32[n]) { y[i] = " + text + " }");
  if (!p.module) return p.messages();
  return structure(*p.module, std::get<ast::Equation>(std::get<ast::OpDecl>(p.decl(0).node).body.at(0).node).right);
}

// The tree of one statement of a program.
std::string statement(const std::string& text) {
  Parsed p("program f(x: f32[n]) -> (y: f32[n]) { " + text + " }");
  if (!p.module) return p.messages();
  std::string all = structure(*p.module);
  std::size_t at = all.rfind("((tensor y f32 (n) -)) ("), end = all.rfind("))");
  return all.substr(at + 24, end - at - 24);
}

std::string declaration(const std::string& text) {
  Parsed p(text);
  return p.module ? structure(*p.module) : p.messages();
}

TEST(Parse, EveryExampleOfTheLanguage) {
  auto files = testing::corpus();
  ASSERT_GE(files.size(), 7u);
  for (const auto& path : files) {
    Parsed p(testing::read_file(path));
    EXPECT_TRUE(p.module) << path << "\n" << p.messages();
    EXPECT_EQ(p.messages(), "") << path;
  }
}

TEST(Grammar, HasNoAmbiguity) {
  for (const auto& path : testing::corpus()) {
    SourceMap sources;
    FileId file = sources.add(path.string(), testing::read_file(path));
    Diagnostics diagnostics;
    auto list = tokenize(sources, whole_file(sources, file), {}, diagnostics);
    ASSERT_TRUE(list);
    for (const std::string& complaint : grammar_complaints(*list)) ADD_FAILURE() << path << ": " << complaint;
  }
}

TEST(Grammar, ReportsSyntaxErrors) {
  SourceMap sources;
  FileId file = sources.add("t.tap", "op f(x: f32[n]) -> (y: f32[n]) { y[i] = = x[i] }");
  Diagnostics diagnostics;
  auto list = tokenize(sources, whole_file(sources, file), {}, diagnostics);
  ASSERT_TRUE(list);
  EXPECT_FALSE(grammar_complaints(*list).empty());
}

TEST(Grammar, EveryDecisionNeedsOneToken) {
  std::string parser = testing::read_file(TAP_BINARY_DIR "/generated/grammar/TapParser.cpp");
  ASSERT_NE(parser.find("_input->LA(1)"), std::string::npos);
  EXPECT_EQ(parser.find("adaptivePredict"), std::string::npos);
}

TEST(Precedence, OfOperators) {
  EXPECT_EQ(tree("a + b * c"), "(add a (mul b c))");
  EXPECT_EQ(tree("a - b - c"), "(sub (sub a b) c)");
  EXPECT_EQ(tree("a / b % c * d"), "(mul (mod (div a b) c) d)");
  EXPECT_EQ(tree("(a + b) * c"), "(mul (add a b) c)");
  EXPECT_EQ(tree("a or b and c or d"), "(or (or a (and b c)) d)");
  EXPECT_EQ(tree("not a == b and c"), "(and (not (== a b)) c)");
  EXPECT_EQ(tree("not not a"), "(not (not a))");
  EXPECT_EQ(tree("a and not b or c"), "(or (and a (not b)) c)");
  EXPECT_EQ(tree("a + 1 < b * 2"), "(< (add a 1) (mul b 2))");
  EXPECT_EQ(tree("-a * b"), "(mul (negate a) b)");
  EXPECT_EQ(tree("a - -b"), "(sub a (negate b))");
  EXPECT_EQ(tree("- - a"), "(negate (negate a))");
  EXPECT_EQ(tree("-a.v"), "(negate (. a v))");
}

TEST(Precedence, PrefixExpressionsExtendRight) {
  EXPECT_EQ(tree("b + sum[k] x[k] * w[k]"), "(add b (reduce sum ((var k - -)) ((mul (read x (k) -) (read w (k) -)))))");
  EXPECT_EQ(tree("2 * sum[k] x[k] + 1"), "(mul 2 (reduce sum ((var k - -)) ((add (read x (k) -) 1))))");
  EXPECT_EQ(tree("(sum[k] x[k]) + 1"), "(add (reduce sum ((var k - -)) ((read x (k) -))) 1)");
  EXPECT_EQ(tree("sum[k] (x[k]) + 1"), "(reduce sum ((var k - -)) ((add (read x (k) -) 1)))");
  EXPECT_EQ(tree("m[k] (x[k]) + 1"), "(add (reduce m ((var k - -)) ((read x (k) -))) 1)");
  EXPECT_EQ(tree("1 + if a then b else c + 2"), "(add 1 (if a b (add c 2)))");
  EXPECT_EQ(tree("let a = 1, b = a in a + b * 2"), "(let ((bind a - 1) (bind b - a)) (add a (mul b 2)))");
  EXPECT_EQ(tree("-sum[k] x[k]"), "(negate (reduce sum ((var k - -)) ((read x (k) -))))");
  EXPECT_EQ(tree("if a then if b then 1 else 2 else 3"), "(if a (if b 1 2) 3)");
}

TEST(Expressions, ReductionsAndFunctionsOfOneName) {
  EXPECT_EQ(tree("max(a, b)"), "(call (max) (a b))");
  EXPECT_EQ(tree("max[k] x[k]"), "(reduce max ((var k - -)) ((read x (k) -)))");
  EXPECT_EQ(tree("max[k in 0..n+1, l] x[k, l]"), "(reduce max ((var k 0 (add n 1)) (var l - -)) ((read x (k l) -)))");
  EXPECT_EQ(tree("sum[k..] x[k.., i]"), "(reduce sum ((pack k - -)) ((read x (k.. i) -)))");
  EXPECT_EQ(tree("online[j] (t[i, j], 1, v[j])"), "(reduce online ((var j - -)) ((read t (i j) -) 1 (read v (j) -)))");
  EXPECT_EQ(tree("(a, b)"), "(tuple (a b))");
}

TEST(Expressions, CallsReadsAndMembers) {
  EXPECT_EQ(tree("x[i - 1, j else 0]"), "(read x ((sub i 1) j) 0)");
  EXPECT_EQ(tree("s[]"), "(read s () -)");
  EXPECT_EQ(tree("f[(i..), g(i..)]"), "(read f ((linear i) (call (g) (i..))) -)");
  EXPECT_EQ(tree("std.linear(x, w)"), "(call (std linear) (x w))");
  EXPECT_EQ(tree("i64.max"), "(. i64 max)");
  EXPECT_EQ(tree("a.b.c"), "(. (. a b) c)");
  EXPECT_EQ(tree("top(x).v"), "(. (call (top) (x)) v)");
  EXPECT_EQ(tree("conv<stride = 2, 3>(x)"), "(call (conv) ((param stride 2) (param - 3)) (x))");
  EXPECT_EQ(tree("sum_axis<-2>(x)"), "(call (sum_axis) ((param - (negate 2))) (x))");
  EXPECT_EQ(tree("f<>(x)"), "(call (f) () (x))");
  EXPECT_EQ(tree("cast<f32>(x)"), "(call (cast) ((param - f32)) (x))");
  EXPECT_EQ(tree("f<g<2>(x)>(y)"), "(call (f) ((param - (call (g) ((param - 2)) (x)))) (y))");
  EXPECT_EQ(tree("reshape<e..>(x)"), "(call (reshape) ((param - e..)) (x))");
}

TEST(Expressions, AngleBracketsAgainstComparisons) {
  EXPECT_EQ(tree("a < b"), "(< a b)");
  EXPECT_EQ(tree("if a < b and c > (d) then 1 else 2"), "(if (and (< a b) (> c d)) 1 2)");
  EXPECT_EQ(tree("f((a < b), c > (d))"), "(call (f) ((< a b) (> c d)))");
  EXPECT_EQ(tree("f(a < b, c > (d))"), "(call (f) ((call (a) ((param - b) (param - c)) (d))))");
  EXPECT_EQ(tree("f<(a < b)>(x)"), "(call (f) ((param - (< a b))) (x))");
  EXPECT_EQ(declaration("dim a = b < c\ndim d = e > (g)"), "(dim a (< b c))\n(dim d (> e g))\n");
}

TEST(Literals, AreExact) {
  EXPECT_EQ(tree("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(tree("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(tree("1 - -9223372036854775808"), "(sub 1 -9223372036854775808)");
  EXPECT_EQ(tree("1.5e-3"), "1.5e-3");
  EXPECT_EQ(tree("-inf"), "(negate inf)");
  EXPECT_EQ(tree("true and nan == inf"), "(and true (== nan inf))");
  Parsed p("dim a = 0.1\ndim b = 5e-324\ndim c = 1e0");
  ASSERT_TRUE(p.module) << p.messages();
  auto value = [&](std::size_t i) {
    return std::get<ast::FloatLiteral>((*p.module)[std::get<ast::DimDecl>(p.decl(i).node).value].node).value;
  };
  EXPECT_EQ(value(0), 0.1);
  EXPECT_EQ(value(1), 5e-324);
  EXPECT_EQ(value(2), 1.0);
}

TEST(Statements, OfEveryKind) {
  EXPECT_EQ(statement("y[k*n + i] = x[i] for k in 0..2, i in 0..n"),
            "(equation ((cell y ((add (mul k n) i)))) (read x (i) -) ((var k 0 2) (var i 0 n)))");
  EXPECT_EQ(statement("(v, at) = top1(x)"), "(bindings (v at) (call (top1) (x)) -)");
  EXPECT_EQ(statement("(v) = x"), "(bindings (v) x -)");
  EXPECT_EQ(statement("(a[i], b[]) = m[k] (x[i, k], 1)"),
            "(equations ((cell a (i)) (cell b ())) (reduce m ((var k - -)) ((read x (i k) -) 1)) ())");
  EXPECT_EQ(statement("Y = X @ pod[{a, ?}p2, {}; replicated {b:(2)4}; unreduced {c} by sum]"),
            "(binding (Y) X (sharding pod ((open (a) 2) (closed () -)) ((sub b 2 4)) (c) sum))");
  EXPECT_EQ(statement("Y = f(X @ pod[{?}], Z)"),
            "(binding (Y) (call (f) ((at X (sharding pod ((open () -)) () () -)) Z)) -)");
  EXPECT_EQ(statement("group A, B"), "(group (A B))");
  EXPECT_EQ(statement("barrier H backward"), "(barrier H 1)");
  EXPECT_EQ(statement("split H on axis 1 into [0..100, 100..n]"), "(split H - 1 - - ((.. 0 100) (.. 100 n)) 0 - -)");
  EXPECT_EQ(statement("split linear#2 on k into 4 over threads"), "(split linear 2 - k 4 () 1 - -)");
  EXPECT_EQ(statement("split H on axis 0 into 2*n over model:(1)2"),
            "(split H - 0 - (mul 2 n) () 3 (sub model 1 2) -)");
  EXPECT_EQ(statement("split H on i into 4 over pod.model"), "(split H - - i 4 () 3 model pod)");
}

TEST(Statements, Iterate) {
  EXPECT_EQ(statement("u = iterate 50 (v = u0) { step(v) }"),
            "(binding (u) (iterate - 0 50 ((state v u0)) () ((call (step) (v)))) -)");
  EXPECT_EQ(
      statement("(a, b) = iterate t in 0..n+1 (a = x, b = y) { c = f(a); (b, c) }"),
      "(bindings (a b) (iterate t 0 (add n 1) ((state a x) (state b y)) ((binding (c) (call (f) (a)) -)) (b c)) -)");
  EXPECT_EQ(statement("u = iterate n (v = x) { w = f(v)\n (w) }"),
            "(binding (u) (iterate - 0 n ((state v x)) ((binding (w) (call (f) (v)) -)) (w)) -)");
  EXPECT_EQ(statement("u = iterate (n) (v = x) { v }"), "(binding (u) (iterate - 0 n ((state v x)) () (v)) -)");
}

TEST(Statements, NewlinesAndSemicolons) {
  std::string two = "(binding (a) b -) (binding (c) d -)";
  EXPECT_EQ(statement("a = b c = d"), two);
  EXPECT_EQ(statement("a = b; c = d;"), two);
  EXPECT_EQ(statement("a\n=\nb\n\nc\n=\nd"), two);
  EXPECT_EQ(statement("a = b\n(c, d) = f(x)"), "(binding (a) b -) (bindings (c d) (call (f) (x)) -)");
  EXPECT_EQ(statement("a = f\n(x)"), "(binding (a) (call (f) (x)) -)");
  EXPECT_EQ(statement("y[i] = m[k] (x[k])"), "(equation ((cell y (i))) (reduce m ((var k - -)) ((read x (k) -))) ())");
  EXPECT_EQ(statement("y[i] = x[i]\n(a, b) = f(x)"),
            "(equation ((cell y (i))) (read x (i) -) ()) (bindings (a b) (call (f) (x)) -)");
}

TEST(ContextualWords, AreNamesElsewhere) {
  EXPECT_EQ(declaration("op f(x: T[batch.., in], w: T[in, for]) -> (y: T[batch.., for]) where T: number { y[i.., o] = "
                        "sum[k] x[i.., k] * w[k, o] }")
                .substr(0, 8),
            "(op \"\" f");
  EXPECT_EQ(statement("split = x index[i] = split[i] group = f(group)"),
            "(binding (split) x -) (equation ((cell index (i))) (read split (i) -) ()) (binding (group) (call (f) "
            "(group)) -)");
  EXPECT_EQ(statement("y[in] = read[in - 1] + at[by] for in in 0..over"),
            "(equation ((cell y (in))) (add (read read ((sub in 1)) -) (read at (by) -)) ((var in 0 over)))");
  EXPECT_EQ(statement("a = let in = 1 in in + in"), "(binding (a) (let ((bind in - 1)) (add in in)) -)");
  EXPECT_EQ(declaration("op op(dim: f32[use]) -> (mesh: f32[use]) { mesh[program] = dim[program] }").substr(0, 9),
            "(op \"\" op");
  EXPECT_EQ(declaration("use op\ndim tap = 1"), "(use op)\n(dim tap 1)\n");
  EXPECT_EQ(declaration(
                "monoid fold(identity: f32) { identity 0 combine (combine, fold) = combine.identity + fold.identity }"),
            "(monoid \"\" fold () ((component identity f32)) () 0 combine fold (add (. combine identity) (. fold "
            "identity)) -)\n");
  EXPECT_EQ(declaration("monoid m(v: T, where: i64) where T: float { identity (0, 0) combine (a, b) = a }"),
            "(monoid \"\" m () ((component v T) (component where i64)) ((where T float -)) (tuple (0 0)) a b a -)\n");
  EXPECT_EQ(declaration("extern op f(read: f32[at]) -> (write: f32[at]) { kernel \"k\" read read at [index] shape [1] "
                        "write write at [index] shape [1] index [index: at] }"),
            "(extern \"\" f () ((tensor read f32 (at) -)) ((tensor write f32 (at) -)) () ((dim index at -)) ((access "
            "read (index) (1) -)) "
            "((access write (index) (1) -)) \"k\" -)\n");
}

TEST(Declarations, OfEveryKind) {
  EXPECT_EQ(declaration("use std; dim a = 1, b = 2 * a; mesh m = [x: 2, y: 3] devices [5, 4, 3, 2, 1, 0]"),
            "(use std)\n(dim a 1)\n(dim b (mul 2 a))\n(mesh m ((axis x 2) (axis y 3)) (5 4 3 2 1 0))\n");
  EXPECT_EQ(declaration("rewrite f(x) => g<-2>(x) when f.n > 4"),
            "(rewrite \"\" (call (f) (x)) (call (g) ((param - (negate 2))) (x)) (> (. f n) 4))\n");
  EXPECT_EQ(declaration("op f<p: int = 1, e..: int>(x: T[d.., n + 1, broadcast(d, e)..]) -> (s: T[]) where T: float, "
                        "rank(d) == p { s[] = 0 }"),
            "(op \"\" f ((param p int 1) (pack e int -)) ((tensor x T ((dims d..) (add n 1) (dims (call (broadcast) (d "
            "e)))) -)) ((tensor s T () -)) "
            "((where T float -) (where - - (== (call (rank) (d)) p))) ((equation ((cell s ())) 0 ())))\n");
  EXPECT_EQ(declaration("program main(const W: f32[n] @ pod[{a}]) -> (y: f32[n]) { y = W }"),
            "(program \"\" main ((const W f32 (n) (sharding pod ((closed (a) -)) () () -))) ((tensor y f32 (n) -)) "
            "((binding (y) W -)))\n");
}

TEST(Declarations, DocumentationBelongsToTheNextDeclaration) {
  Parsed p(
      "/// One.\n///   Two.\n// not this\nop f(x: f32[n]) -> (y: f32[n]) {\n/// nor this\ny[i] = x[i] }\n//// nor "
      "this\n///Three.\nrewrite f(x) => g(x)\n/// trailing");
  ASSERT_TRUE(p.module) << p.messages();
  EXPECT_EQ(std::get<ast::OpDecl>(p.decl(0).node).doc, "One.\n  Two.");
  EXPECT_EQ(std::get<ast::RewriteDecl>(p.decl(1).node).doc, "Three.");
}

TEST(Spans, CoverWhatTheyName) {
  Parsed p("op f(x: f32[n]) -> (y: f32[n]) { y[i] = (x[i] + 1) * g(2)\n z[i] = if a then b else c }");
  ASSERT_TRUE(p.module) << p.messages();
  const auto& op = std::get<ast::OpDecl>(p.decl(0).node);
  EXPECT_EQ(p.text(p.decl(0).span).substr(0, 4), "op f");
  EXPECT_EQ(p.text(p.decl(0).span).back(), '}');
  EXPECT_EQ(p.text(op.name.span), "f");
  EXPECT_EQ(p.text(op.inputs[0].type.span), "f32[n]");
  const auto& first = std::get<ast::Equation>(op.body[0].node);
  EXPECT_EQ(p.text(op.body[0].span), "y[i] = (x[i] + 1) * g(2)");
  EXPECT_EQ(p.text(first.left[0].span), "y[i]");
  const ast::Expr& right = (*p.module)[first.right];
  EXPECT_EQ(p.text(right.span), "(x[i] + 1) * g(2)");
  const auto& product = std::get<ast::Binary>(right.node);
  EXPECT_EQ(p.text(product.op_span), "*");
  EXPECT_EQ(p.text((*p.module)[product.left].span), "(x[i] + 1)");
  EXPECT_EQ(p.text((*p.module)[product.right].span), "g(2)");
  EXPECT_EQ(p.text((*p.module)[std::get<ast::Equation>(op.body[1].node).right].span), "if a then b else c");
}

TEST(Limits, LongProgramsAndLongChains) {
  std::string text = "program f(v0: f32[n]) -> (y: f32[n]) {\n";
  for (int i = 0; i < 20000; ++i) text += "v" + std::to_string(i + 1) + " = relu(v" + std::to_string(i) + ")\n";
  Parsed p(text + "y = v20000 }");
  ASSERT_TRUE(p.module) << p.messages();
  EXPECT_EQ(std::get<ast::ProgramDecl>(p.decl(0).node).body.size(), 20001u);
  std::string sum = "1";
  for (int i = 0; i < 1000; ++i) sum += " + 1";
  EXPECT_NE(tree(sum).find("(add"), std::string::npos);
  EXPECT_EQ(tree(std::string(255, '(') + "1" + std::string(255, ')')), "1");
}

TEST(Outline, FindsTheDeclarationsOfTheParser) {
  auto files = testing::corpus();
  files.push_back(TAP_SOURCE_DIR "/lib/std.tap");
  for (const auto& path : files) {
    Parsed p(testing::read_file(path));
    ASSERT_TRUE(p.module) << path << p.messages();
    ast::Module whole;
    whole.file = p.file;
    Outline o = outline(p.sources, p.file);
    for (const Outline::Item& item : o.items) {
      std::size_t before = whole.declarations.size();
      Diagnostics diagnostics;
      ASSERT_TRUE(parse_part(p.sources, item.span, {}, whole, diagnostics)) << path << "\n" << p.text(item.span);
      std::size_t more = whole.declarations.size() - before;
      EXPECT_TRUE(more == 1 || (item.keyword == "dim" && more > 1)) << p.text(item.span);
    }
    whole.version = p.module->version;
    EXPECT_EQ(structure(whole), structure(*p.module)) << path;
  }
}

TEST(Outline, KeywordsNamesAndSpans) {
  Parsed p(
      "tap 1\n// op no(\nuse std; dim a = 1, op = 2 /* op x */\n/// Doc.\n/// More.\nop f(x: f32[\"}\"]) -> (y: "
      "f32[n]) { op g } // after\n"
      "extern op k() -> () { kernel \"op q\" }\nrewrite op(x) => use(x) when f.dim > 2 mesh m = [a: 1] devices "
      "[0]\nmonoid q() {} program r() -> () {}");
  Outline o = outline(p.sources, p.file);
  std::string all;
  for (const auto& item : o.items) all += item.keyword + ":" + item.name + " ";
  EXPECT_EQ(all, "use:std dim:a op:f extern:k rewrite: mesh:m monoid:q program:r ");
  EXPECT_EQ(p.text(o.items.at(1).span), "dim a = 1, op = 2");
  EXPECT_EQ(p.text(o.items.at(2).span).substr(0, 8), "/// Doc.");
  EXPECT_EQ(p.text(o.items.at(2).span).back(), '}');
}

}  // namespace
}  // namespace tap
