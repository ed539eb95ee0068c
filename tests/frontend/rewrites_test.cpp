// Rules of random operators: T0605 is reported exactly where the two sides differ, which is known from how they were made.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "compile_source.h"

namespace tap {
namespace {

using test::compile_text;

bool refused(const test::Outcome& outcome) {
  return std::find(outcome.codes.begin(), outcome.codes.end(), "T0605") != outcome.codes.end();
}

int chosen(int lo, int hi) { return *rc::gen::inRange(lo, hi); }

// y[i, j] = Σ coefficient · x at shifted cells + constant, the terms in some order and each split in two at some place.
struct Stencil {
  struct Term {
    int row, column, coefficient;
    bool operator==(const Term&) const = default;
    auto operator<=>(const Term&) const = default;
  };
  std::vector<Term> terms;
  int constant = 0;
};

Stencil random_stencil() {
  Stencil s;
  for (int row = -1; row <= 1; ++row)
    for (int column = -1; column <= 1; ++column)
      if (int c = chosen(-2, 3)) s.terms.push_back({row, column, c});
  s.constant = chosen(-3, 4);
  return s;
}

std::string text(const Stencil& s) {
  std::string sum = std::to_string(s.constant);
  for (const auto& t : s.terms)
    sum += " + " + std::to_string(t.coefficient) + " * x[i + " + std::to_string(t.row) + ", j + " +
           std::to_string(t.column) + " else 0]";
  return "y[i, j] = " + sum;
}

// The same function, otherwise written.
Stencil rewritten(Stencil s) {
  std::vector<Stencil::Term> terms;
  for (auto t : s.terms) {
    int part = chosen(-2, 3);
    terms.push_back({t.row, t.column, part});
    terms.push_back({t.row, t.column, t.coefficient - part});
  }
  for (std::size_t i = terms.size(); i > 1; --i)
    std::swap(terms[i - 1], terms[static_cast<std::size_t>(chosen(0, static_cast<int>(i)))]);
  s.terms = terms;
  return s;
}

std::string rule_over(const Stencil& left, const Stencil& right, const std::string& type) {
  std::string head = "(x: " + type + "[n, m]) -> (y: " + type + "[n, m]) where T: number { ";
  if (type != "T") head = "(x: " + type + "[n, m]) -> (y: " + type + "[n, m]) { ";
  return "op f" + head + text(left) + " }\nop g" + head + text(right) + " }\nrewrite f(x) => g(x)\n";
}

RC_GTEST_PROP(Rewrites, EqualStencilsPass, ()) {
  Stencil s = random_stencil();
  auto outcome = compile_text(rule_over(s, rewritten(s), chosen(0, 2) ? "T" : "i32"));
  RC_ASSERT(outcome.messages.empty());
}

RC_GTEST_PROP(Rewrites, ChangedStencilsAreRefused, ()) {
  Stencil s = random_stencil();
  Stencil changed = rewritten(s);
  if (changed.terms.empty() || chosen(0, 4) == 0) {
    changed.constant += chosen(1, 3);
  } else {
    auto& term = changed.terms[static_cast<std::size_t>(chosen(0, static_cast<int>(changed.terms.size())))];
    term.coefficient += chosen(0, 2) ? 1 : -2;
  }
  auto outcome = compile_text(rule_over(s, changed, "T"));
  RC_ASSERT(refused(outcome));
}

TEST(Rewrites, RulesOfTheStandardLibraryHold) {
  CompileOptions options;
  auto outcome = compile_text(test::standard_library(), options);
  EXPECT_FALSE(refused(outcome)) << outcome.messages;
  ASSERT_TRUE(outcome.compiled) << outcome.messages;
  EXPECT_EQ(std::count(outcome.codes.begin(), outcome.codes.end(), "T0607"), 0) << outcome.messages;
  EXPECT_GE(outcome.compiled->program.rewrites.size(), 4u);
}

TEST(Rewrites, WrongRulesOverStandardOperators) {
  for (const char* rule : {
           "rewrite linear(x, w, b) => matmul(x, w)",
           "rewrite softmax(x) => log_softmax(x)",
           "rewrite matmul(a, b) => matmul(b, a)",
           "rewrite relu(x) => x",
           "rewrite sub(a, b) => sub(b, a)",
           "rewrite matmul(matmul(a, b), c) => matmul(a, matmul(c, b))",
           "rewrite transpose(transpose(x)) => transpose(x)",
       })
    EXPECT_TRUE(refused(compile_text(std::string("use std\n") + rule + "\n"))) << rule;
  for (const char* rule : {
           "rewrite relu(relu(x)) => relu(x)",
           "rewrite transpose(transpose(x)) => x",
           "rewrite matmul(matmul(a, b), c) => matmul(a, matmul(b, c))",
           "rewrite transpose(matmul(a, b)) => matmul(transpose(b), transpose(a))",
           "rewrite add(a, b) => add(b, a)",
           "rewrite exp(neg(x)) => neg(exp(x)) when neg.n < 0",
       }) {
    auto outcome = compile_text(std::string("use std\nop neg(x: T[n]) -> (y: T[n]) where T: float { y[i] = -x[i] }\n") +
                                rule + "\n");
    EXPECT_FALSE(refused(outcome)) << rule << "\n" << outcome.messages;
  }
}

// What is tried leaves nothing behind in the program.
TEST(Rewrites, CheckingRulesDoesNotChangeTheProgram) {
  std::string program =
      "op f(x: f32[n]) -> (y: f32[n]) { y[i] = x[i] + x[i] }\nop g(x: f32[n]) -> (y: f32[n]) { y[i] = 2 * x[i] }\n"
      "program p(X: f32[4]) -> (Y: f32[4]) { Y = f(X) }\n";
  auto without = compile_text(program), with = compile_text(program + "rewrite f(x) => g(x)\n");
  ASSERT_TRUE(without.compiled && with.compiled) << with.messages;
  EXPECT_EQ(with.compiled->program.rewrites.size(), 1u);
  with.compiled->program.rewrites.clear();
  EXPECT_EQ(with.compiled->program, without.compiled->program);
}

}  // namespace
}  // namespace tap
