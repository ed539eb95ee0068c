// Habits at the start of a statement: declarations with types, C casts, keywords, and operands that follow a function
// or reduction without brackets.
//
//   float t = 2.0      t = 2.0          abs x[i]      abs(x[i])
#include <fmt/format.h>

#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/habit_context.h"
#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {
namespace {

using K = TokenKind;

class Statements : HabitContext {
 public:
  using HabitContext::HabitContext;

  bool found() {
    return other_equals() || word() || typed_name() || c_cast() || reduction() || bare_operand() || nested_brackets();
  }

 private:
  // y[i] == x[i], y[i] := x[i]
  bool other_equals() {
    if (list_.kind(at_) != K::name) return false;
    std::size_t sign = operand_end(at_) + 1;
    bool colon = list_.kind(sign) == K::colon && list_.kind(sign + 1) == K::assign;
    if (list_.kind(sign) != K::equal && !colon) return false;
    Span written = colon ? join(list_.span(sign), list_.span(sign + 1)) : list_.span(sign);
    report(written, colon ? "`:=` has no meaning in Tap" : "`==` compares; a statement must define a value",
           "write `=` in equations and bindings");
    d_.fix(written, "=");
    return true;
  }

  // float t = 2.0, var t = exp(x): the first of two adjacent names
  bool typed_name() {
    if (list_.kind(at_) != K::name || list_.kind(at_ + 1) != K::name) return false;
    std::size_t after = list_.kind(at_ + 2) == K::lbracket ? operand_end(at_ + 1) + 1 : at_ + 2;
    if (list_.kind(after) != K::assign) return false;
    std::string name(list_.text_of(at_ + 1));
    report(list_.span(at_), fmt::format("a definition starts with its name; the type is inferred"),
           fmt::format("write `{} = …`", text(at_ + 1, after - 1)));
    d_.fix({list_.file, list_.tokens[at_].begin, list_.tokens[at_ + 1].begin}, "");
    return true;
  }

  // (i32)x[i]
  bool c_cast() {
    if (before() != K::rparen || list_.partner[at_ - 1] != at_ - 3 || !element_type_named(list_.text_of(at_ - 2)))
      return false;
    std::size_t last = operand_end(at_);
    std::string fix_text = fmt::format("{}({})", list_.text_of(at_ - 2), text(at_, last));
    report(join(list_.span(at_ - 3), list_.span(at_ - 1)), "a conversion is written like a function call",
           fmt::format("write `{}`", fix_text));
    d_.fix(join(list_.span(at_ - 3), list_.span(last)), fix_text);
    return true;
  }

  // y[i][j] = …
  bool nested_brackets() {
    if (list_.kind(at_) != K::name || list_.kind(at_ + 1) != K::lbracket) return false;
    std::size_t close = operand_end(at_);
    return list_.kind(close + 1) == K::lbracket && merge_brackets(at_, close + 1);
  }

  // abs x[i] and sum(i) x[i], where the operand looks like the start of the next statement
  bool bare_operand() {
    if (at_ == 0 || list_.tokens[at_].first_on_line) return false;
    if (before() == K::name && builtin_function(list_.text_of(at_ - 1))) {
      std::string name(list_.text_of(at_ - 1)), operand = text(at_, operand_end(at_));
      report(list_.span(at_ - 1), fmt::format("the argument of `{}` must be in parentheses", name),
             fmt::format("write `{}({})`", name, operand));
      d_.fix(join(list_.span(at_ - 1), list_.span(operand_end(at_))), fmt::format("{}({})", name, operand));
      return true;
    }
    if (before() != K::rparen || list_.partner[at_ - 1] == TokenList::none) return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || !is_builtin_reduction(list_.text_of(open - 1)) || open + 1 == at_ - 1) return false;
    std::string fix_text = fmt::format("{}[{}]", list_.text_of(open - 1), text(open + 1, at_ - 2));
    report(join(list_.span(open - 1), list_.span(at_ - 1)), "the variables of a reduction must be in brackets",
           fmt::format("write `{} {}`", fix_text, text(at_, operand_end(at_))));
    d_.fix(join(list_.span(open - 1), list_.span(at_ - 1)), fix_text);
    return true;
  }

  bool word() {
    std::string_view text = list_.text_of(at_);
    if (text == "while" || text == "until" || text == "do")
      return report(
          list_.span(at_), "Tap has no loops with an unknown trip count",
          "repeat a fixed number of times, `v = iterate 50 (w = v0) { step(w) }`; to stop early, keep the state, as "
          "in `if done[] then w[i] else …`");
    if (text == "loop" || text == "repeat")
      return report(list_.span(at_), fmt::format("`{}` has no meaning in Tap", text),
                    "write a loop with its state: `v = iterate 50 (w = v0) { step(w) }`");
    if (text == "print" || text == "assert")
      return report(list_.span(at_), fmt::format("every statement of Tap defines a value; `{}` does not", text),
                    text == "print" ? "make the value a result of the program; `tapc run` prints results"
                                    : "`tapc run --expect Y=@y.npy` compares a result with its expected value");
    if (before() == K::name && list_.text_of(at_ - 1) == "lambda")
      return report(list_.span(at_ - 1), "Tap has no anonymous functions",
                    "declare an operator, `op f(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + 1 }`; it "
                    "can also be applied to cells");
    if (text == "return")
      return report(list_.span(at_), "Tap has no `return`: a result is defined by its name",
                    "write `y = …`, or `y[i] = …` for its cells, where `y` is the result");
    if (text == "where")
      return report(
          list_.span(at_), "`where` belongs in the head of an operator, not in its body",
          "write a range after the equation, `… for i in lo..hi`, and a condition on cells as `if c then x[i] else 0`");
    return false;
  }

  // y[] = mean[i] x[i]
  bool reduction() {
    if (before() != K::rbracket || list_.tokens[at_].first_on_line || list_.partner[at_ - 1] == TokenList::none)
      return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || list_.kind(open - 1) != K::name) return false;
    std::string head = text(open - 1, at_ - 1), name(list_.text_of(open - 1));
    Span span = list_.span(open - 1);
    if (std::string fix_text = instead_of_reduction(name, text(open, at_ - 1)); !fix_text.empty())
      return report(span, fmt::format("unknown built-in reduction `{}`", name), fix_text);
    return report(list_.span(at_), fmt::format("unexpected value after `{}`", head),
                  fmt::format("the built-in reductions are sum, prod, max, min, any and all; a user monoid needs its "
                              "operand in parentheses: `{} (…)`",
                              head));
  }
};

}  // namespace

std::string instead_of_reduction(std::string_view name, std::string_view over) {
  if (name != "mean" && name != "average" && name != "avg") return {};
  return fmt::format(
      "divide a sum by the number of its terms, `(sum{} …) / f32(n)`, or call an operator such as `mean_all(x)` from "
      "std",
      over);
}

bool habit_in_a_statement(const TokenList& list, std::size_t first, Diagnostic& d) {
  return Statements(list, first, d).found();
}

}  // namespace tap
