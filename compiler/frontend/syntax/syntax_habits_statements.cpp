// Habits at the begin of what seems to be a statement: declarations with types, casts of C, words, and operands that a
// function or a reduction has left behind.
//
//   float t = 2.0      t = 2.0          abs x[i]      abs(x[i])
#include <fmt/format.h>

#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/habit_place.h"
#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {
namespace {

using K = TokenKind;

class Statements : HabitPlace {
 public:
  using HabitPlace::HabitPlace;

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
    tell(written, colon ? "`:=` has no meaning in Tap" : "`==` compares, and a statement defines",
         "an equation and a binding are written with `=`");
    d_.fix(written, "=");
    return true;
  }

  // float t = 2.0, var t = exp(x): the first of two names beside each other
  bool typed_name() {
    if (list_.kind(at_) != K::name || list_.kind(at_ + 1) != K::name) return false;
    std::size_t after = list_.kind(at_ + 2) == K::lbracket ? operand_end(at_ + 1) + 1 : at_ + 2;
    if (list_.kind(after) != K::assign) return false;
    std::string name(list_.text_of(at_ + 1));
    tell(list_.span(at_), fmt::format("nothing stands before the name of a value, which has the type of what it is"),
         fmt::format("write `{} = …`", text(at_ + 1, after - 1)));
    d_.fix({list_.file, list_.tokens[at_].begin, list_.tokens[at_ + 1].begin}, "");
    return true;
  }

  // (i32)x[i]
  bool c_cast() {
    if (before() != K::rparen || list_.partner[at_ - 1] != at_ - 3 || !element_type_named(list_.text_of(at_ - 2)))
      return false;
    std::size_t last = operand_end(at_);
    std::string mend = fmt::format("{}({})", list_.text_of(at_ - 2), text(at_, last));
    tell(join(list_.span(at_ - 3), list_.span(at_ - 1)), "a conversion is written as a function",
         fmt::format("write `{}`", mend));
    d_.fix(join(list_.span(at_ - 3), list_.span(last)), mend);
    return true;
  }

  // y[i][j] = …
  bool nested_brackets() {
    if (list_.kind(at_) != K::name || list_.kind(at_ + 1) != K::lbracket) return false;
    std::size_t close = operand_end(at_);
    return list_.kind(close + 1) == K::lbracket && one_pair_of_brackets(at_, close + 1);
  }

  // abs x[i] and sum(i) x[i], where the operand begins what seems to be the next statement
  bool bare_operand() {
    if (at_ == 0 || list_.tokens[at_].first_on_line) return false;
    if (before() == K::name && builtin_function(list_.text_of(at_ - 1))) {
      std::string name(list_.text_of(at_ - 1)), operand = text(at_, operand_end(at_));
      tell(list_.span(at_ - 1), fmt::format("the argument of `{}` stands in parentheses", name),
           fmt::format("write `{}({})`", name, operand));
      d_.fix(join(list_.span(at_ - 1), list_.span(operand_end(at_))), fmt::format("{}({})", name, operand));
      return true;
    }
    if (before() != K::rparen || list_.partner[at_ - 1] == TokenList::none) return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || !is_builtin_reduction(list_.text_of(open - 1)) || open + 1 == at_ - 1) return false;
    std::string mend = fmt::format("{}[{}]", list_.text_of(open - 1), text(open + 1, at_ - 2));
    tell(join(list_.span(open - 1), list_.span(at_ - 1)), "the variables of a reduction stand in brackets",
         fmt::format("write `{} {}`", mend, text(at_, operand_end(at_))));
    d_.fix(join(list_.span(open - 1), list_.span(at_ - 1)), mend);
    return true;
  }

  bool word() {
    std::string_view text = list_.text_of(at_);
    if (text == "while" || text == "until" || text == "do")
      return tell(list_.span(at_), "Tap has no loop of unknown length",
                  "so many steps are written `v = iterate 50 (w = v0) { step(w) }`; what is done must change nothing "
                  "more, as in `if done[] then w[i] else …`");
    if (text == "loop" || text == "repeat")
      return tell(list_.span(at_), fmt::format("`{}` has no meaning in Tap", text),
                  "a repetition carries a state: `v = iterate 50 (w = v0) { step(w) }`");
    if (text == "print" || text == "assert")
      return tell(list_.span(at_), fmt::format("a statement of Tap defines something; `{}` would not", text),
                  text == "print" ? "what is to be seen is a result of the program, which `tapc run` prints"
                                  : "`tapc run --expect Y=@y.npy` compares a result with what it must be");
    if (before() == K::name && list_.text_of(at_ - 1) == "lambda")
      return tell(list_.span(at_ - 1), "Tap has no functions without names",
                  "an operator has one, `op f(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = x[i..] + 1 }`, and "
                  "applies to cells, too");
    if (text == "return")
      return tell(list_.span(at_), "`return` has no meaning in Tap: a result is what is written under its name",
                  "write `y = …`, or `y[i] = …` for its cells, where `y` is the result");
    if (text == "where")
      return tell(
          list_.span(at_), "`where` stands in the head of an operator, not in its body",
          "a range stands behind the equation, `… for i in lo..hi`, a condition on cells is `if c then x[i] else 0`");
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
    if (std::string mend = instead_of_reduction(name, text(open, at_ - 1)); !mend.empty())
      return tell(span, fmt::format("there is no built-in reduction `{}`", name), mend);
    return tell(list_.span(at_), fmt::format("found a second value behind `{}`", head),
                fmt::format("built-in reductions are sum, prod, max, min, any and all; the operand of another one "
                            "stands in parentheses, as in `{} (…)`",
                            head));
  }
};

}  // namespace

std::string instead_of_reduction(std::string_view name, std::string_view over) {
  if (name != "mean" && name != "average" && name != "avg") return {};
  return fmt::format(
      "a mean is a sum by the number of its terms: `(sum{} …) / f32(n)`, or an operator such as `mean_all(x)` of std",
      over);
}

bool habit_in_a_statement(const TokenList& list, std::size_t first, Diagnostic& d) {
  return Statements(list, first, d).found();
}

}  // namespace tap
