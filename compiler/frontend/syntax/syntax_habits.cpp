#include "compiler/frontend/syntax/syntax_habits.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/syntax/builtins.h"
#include "compiler/frontend/syntax/habit_context.h"
#include "compiler/frontend/syntax/numpy_names.h"

namespace tap {
namespace {

using K = TokenKind;

class Habits : HabitContext {
 public:
  using HabitContext::HabitContext;

  bool found() {
    return comment() || power() || update() || choice() || habit_of_ranges(list_, at_, d_) || fill() || steps() ||
           name_of_reduction() || named_argument() || product() || cell_of_call() || call_of_call() || shift() ||
           differs() || trailing_if() || results_without_names() || second_for() || body_after_equals();
  }

 private:
  bool comment() {
    if (list_.kind(at_) != K::hash) return false;
    report(list_.span(at_), "Tap has no comments with `#`", "write `// …`");
    d_.fix(d_.span, "//");
    return true;
  }

  bool power() {
    if (list_.kind(at_) != K::times || before() != K::times || !touches_previous()) return false;
    Span stars = join(list_.span(at_ - 1), list_.span(at_));
    if (at_ < 2 || !ends_operand(before(2)))
      return report(stars, "`**` has no meaning in Tap", "write a power as `pow(x, 2)`");
    std::size_t first = operand_begin(at_ - 2), last = operand_end(at_ + 1);
    std::string power = fmt::format("pow({}, {})", text(first, at_ - 2), text(at_ + 1, last));
    report(stars, "`**` has no meaning in Tap", fmt::format("write `{}`; for a square, `x * x` works too", power));
    d_.fix(join(list_.span(first), list_.span(last)), power);
    return true;
  }

  bool update() {
    K sign = before();
    bool arithmetic = sign == K::plus || sign == K::minus || sign == K::times || sign == K::divide;
    if (list_.kind(at_) != K::assign || !arithmetic || !touches_previous()) return false;
    return report(join(list_.span(at_ - 1), list_.span(at_)),
                  fmt::format("Tap has no `{}=`: every cell is written exactly once", list_.text_of(at_ - 1)),
                  "write a sum over an index as `y[i] = sum[k] x[i, k]`; give a new value a new name");
  }

  bool choice() {
    if (list_.kind(at_) != K::question || !ends_operand(before())) return false;
    return report(list_.span(at_), "Tap has no operator `?`", "write `if c then a else b`");
  }

  bool fill() {
    if (list_.kind(at_) != K::else_) return false;
    if (before() == K::comma) {
      Span comma = list_.span(at_ - 1);
      report(join(comma, list_.span(at_)), "no comma is allowed before the `else` of a read",
             "write it like `x[i - 1 else 0]`");
      d_.fix(comma, "");
      return true;
    }
    if (before() != K::rbracket) return false;
    return report(list_.span(at_), "the `else` of a read belongs inside its brackets",
                  "write it like `x[i - 1 else 0]`");
  }

  // iterate -1 (v = x) { … }
  bool steps() {
    if (list_.kind(at_) != K::lp_state) return false;
    for (std::size_t i = at_; i-- > 0 && at_ - i <= 8 && !list_.tokens[i + 1].first_on_line;) {
      if (list_.text_of(i) != "iterate" || i + 1 == at_) continue;
      return report(
          join(list_.span(i + 1), list_.span(at_ - 1)),
          fmt::format(
              "the trip count of an `iterate` must be a non-negative integer or a counter with a range; got `{}`",
              text(i + 1, at_ - 1)),
          "write `iterate 50 (v = v0) { … }` or `iterate t in 0..n (v = v0) { … }`");
    }
    return false;
  }

  // sum[i] = x[i], at the start of a statement
  bool defines(std::size_t i) const {
    if (list_.kind(i) != K::reduction || list_.kind(i + 1) != K::lbracket) return false;
    const std::size_t close = list_.partner[i + 1];
    const K left = list_.kind(i - 1);
    return close != TokenList::none && list_.kind(close + 1) == K::assign &&
           (list_.tokens[i].first_on_line || left == K::lbrace || left == K::semicolon);
  }

  bool begins_declaration(std::size_t i) const {
    const std::string_view text = list_.text_of(i);
    return list_.tokens[i].first_on_line && (text == "program" || text == "op");
  }
  // The name in `(sum: f32[8]`.
  bool declares_tensor(std::size_t i) const {
    const std::string_view left = list_.text_of(i - 1);
    return is_builtin_reduction(list_.text_of(i)) && list_.kind(i + 1) == K::colon &&
           (left == "(" || left == "," || left == "const");
  }
  // Where the head of this declaration has that name as a tensor; or none.
  std::size_t declared_before(std::size_t name) const {
    for (std::size_t i = name; i-- > 1 && !begins_declaration(i);)
      if (declares_tensor(i) && list_.text_of(i) == list_.text_of(name)) return i;
    return TokenList::none;
  }
  std::string reserved(std::size_t name) const {
    return fmt::format("`{}` is a built-in name and cannot name a tensor", list_.text_of(name));
  }

  // program p(sum: f32[8]) …: `sum[i] + 1` and `sum[] = …` are reductions without an operand or a variable.
  bool name_of_reduction() {
    // The nearest one before this position, in this declaration.
    for (std::size_t i = std::min(at_, list_.tokens.size() - 2); i >= 1; --i) {
      if (begins_declaration(i)) break;
      bool declares = declares_tensor(i);
      if (!declares && !defines(i)) continue;
      const std::size_t head = declares ? TokenList::none : declared_before(i);
      if (head != TokenList::none) {
        d_ = Diagnostic(Code::reserved_name, list_.span(head), reserved(head));
        d_.label(list_.span(i), "and here");
        d_.help(fmt::format("choose another name, for example `{}_`", list_.text_of(i)));
        return true;
      }
      d_ = Diagnostic(Code::reserved_name, list_.span(i), reserved(i));
      std::size_t use = at_;
      while (use > i + 1 && list_.text_of(use) != list_.text_of(i)) --use;
      if (declares && use > i + 1) d_.label(list_.span(use), "here it is a reduction");
      d_.help(fmt::format("choose another name, for example `{}_`", list_.text_of(i)));
      return true;
    }
    return false;
  }

  // conv2d(x, k, pad=1)
  bool named_argument() {
    if (list_.kind(at_) != K::assign || before() != K::name || before(2) != K::comma) return false;
    std::size_t open = open_before();
    if (list_.kind(open) != K::lparen || open == 0 || list_.kind(open - 1) != K::name) return false;
    report(join(list_.span(at_ - 1), list_.span(at_)),
           "arguments are positional; named values are parameters and belong in `<…>`", "");
    std::string_view callee = list_.text_of(open - 1);
    bool reduces = is_builtin_reduction(callee) || !instead_of_numpy(callee).empty() || has_axis_form(callee);
    if (std::size_t close = list_.partner[open]; close != TokenList::none) {
      std::string call = with_parameters(open, close);
      if (reduces) return over_axis(open, close);
      d_.help(fmt::format("write `{}`", call)).fix(join(list_.span(open - 1), list_.span(close)), call);
    }
    return true;
  }

  // Operators of std that take the last axis, and any other under a name with `_axis`.
  static bool has_axis_form(std::string_view name) {
    return name == "softmax" || name == "log_softmax" || name == "logsumexp" || name == "variance";
  }

  // sum(x, axis=1): over one axis, as std has it; or nothing if that would not compile
  bool over_axis(std::size_t open, std::size_t close) {
    std::string name(list_.text_of(open - 1));
    std::string operand = text(open + 1, operand_end(open + 1));
    bool one_axis = list_.text_of(at_ - 1) == "axis" && operand_end(at_ + 1) + 1 == close &&
                    operand_end(open + 1) + 2 == at_ - 1;
    bool negative = list_.text_of(at_ - 1) == "axis" && list_.kind(at_ + 1) == K::minus && at_ + 3 == close;
    if (!one_axis && !negative) {
      d_.help(fmt::format("write the equation, `y[i] = sum[k] x[i, k]`, or `{}_axis<…>({})` from std", name, operand));
      return true;
    }
    std::string fix_text = fmt::format("{}_axis<{}>({})", name, text(at_ + 1, close - 1), operand);
    d_.help(fmt::format("write `{}` from std{}", fix_text,
                        has_axis_form(name) ? "" : ", or the equation, `y[i] = sum[k] x[i, k]`"));
    d_.fix(join(list_.span(open - 1), list_.span(close)), fix_text);
    return true;
  }

  // f(x, a = 1) as f<a = 1>(x): named arguments move, others stay.
  std::string with_parameters(std::size_t open, std::size_t close) const {
    std::string parameters, arguments;
    for (std::size_t first = open + 1, last = first; last <= close; last = operand_end(last) + 1) {
      if (last != close && list_.kind(last) != K::comma) continue;
      bool named = list_.kind(first) == K::name && list_.kind(first + 1) == K::assign;
      std::string& part = named ? parameters : arguments;
      if (last > first) part += (part.empty() ? "" : ", ") + text(first, last - 1);
      first = last + 1;
    }
    return fmt::format("{}<{}>({})", list_.text_of(open - 1), parameters, arguments);
  }

  // x @ w
  bool product() {
    std::size_t shard = before() == K::name && before(2) == K::shard ? at_ - 2 : at_ - 1;
    if (at_ < 2 || list_.kind(shard) != K::shard || list_.kind(at_) == K::lbracket || shard == 0) return false;
    std::string left = text(operand_begin(shard - 1), shard - 1);
    std::string right = text(shard + 1, operand_end(shard + 1));
    return report(
        list_.span(shard), "`@` is not a matrix product in Tap: it attaches a sharding, as in `X @ pod[{data}]`",
        fmt::format("write a matrix product as `matmul({}, {})` from std, or as `y[i, j] = sum[k] a[i, k] * b[k, j]`",
                    left, right));
  }

  // softmax(x)[i]
  bool cell_of_call() {
    if (list_.kind(at_) != K::lbracket || !touches_previous()) return false;
    if (before() == K::rbracket) {  // x[i][j]
      std::size_t name = operand_begin(at_ - 1);
      return list_.kind(name) == K::name && merge_brackets(name, at_);
    }
    if (before() != K::rparen) return false;
    std::size_t first = operand_begin(at_ - 1);
    if (first == at_ - 1 || list_.kind(first) != K::name) return false;
    return report(
        list_.span(at_), fmt::format("only a name can be indexed, not `{}`", text(first, at_ - 1)),
        fmt::format("bind it first, `h = {}`, then read `h{}`", text(first, at_ - 1), text(at_, operand_end(at_))));
  }

  // vmap(f)(x), Linear(4, 8)(x)
  bool call_of_call() {
    if (list_.text_of(at_) != "(" || before() != K::rparen || list_.tokens[at_].first_on_line) return false;
    std::size_t first = operand_begin(at_ - 1), open = list_.partner[at_ - 1];
    if (first == at_ - 1 || list_.kind(first) != K::name || list_.partner[at_] == TokenList::none) return false;
    if (first > 0 && (list_.text_of(first - 1) == "op" || list_.text_of(first - 1) == "program")) return false;
    std::string_view name = list_.text_of(first);
    std::string message = fmt::format("an operator is called by its name; `{}` is not a name", text(first, at_ - 1));
    bool maps = name == "vmap", compiles = name == "jit" || name == "pmap" || name == "compile";
    if ((maps || compiles) && open + 2 == at_ - 1 && list_.kind(open + 1) == K::name) {
      std::string call = text(open + 1, open + 1) + text(at_, list_.partner[at_]);
      report(list_.span(first), message,
             fmt::format("{}: write `{}`",
                         maps ? "an operator accepts any leading dims by a pack, `op f(x: T[d.., n]) …`"
                              : "every program is compiled",
                         call));
      d_.fix(join(list_.span(first), list_.span(list_.partner[at_])), call);
      return true;
    }
    if (name == "grad" || name == "value_and_grad")
      return report(list_.span(first), message,
                    "Tap has no automatic differentiation: write the equations of the derivative");
    return report(
        list_.span(first), message,
        fmt::format("parameters go in `<…>` before the arguments: `{}<…>{}`", name, text(at_, list_.partner[at_])));
  }

  // … for i in 0..4 for j in 0..4
  bool second_for() {
    if (list_.kind(at_) != K::for_) return false;
    for (std::size_t i = at_; i-- > 0 && list_.kind(i) != K::assign && list_.kind(i) != K::lbrace;) {
      if (list_.kind(i) != K::for_) continue;
      report(list_.span(at_), "an equation has one `for`, with all its ranges", "separate the ranges by commas");
      d_.fix({list_.file, list_.tokens[at_ - 1].end, list_.tokens[at_].end}, ",");
      return true;
    }
    return false;
  }

  // program p(x: f32[4]) -> (y: f32[4]) = x
  bool body_after_equals() {
    if (list_.text_of(at_) != "(" || before() != K::arrow || list_.partner[at_] == TokenList::none) return false;
    std::size_t sign = list_.partner[at_] + 1;
    if (list_.kind(sign) != K::assign) return false;
    return report(list_.span(sign), "the body of an operator or program must be in braces",
                  "write `{ y = … }`, or `{ y[i] = … }` for its cells, where `y` is the result");
  }

  // x <> 0
  bool differs() {
    if (list_.kind(at_) != K::greater || before() != K::less || !touches_previous()) return false;
    Span sign = join(list_.span(at_ - 1), list_.span(at_));
    report(sign, "`<>` has no meaning in Tap", "write `!=`");
    d_.fix(sign, "!=");
    return true;
  }

  // a if c else b: found at the `else`, or at the `if` where only an operator could follow `a`.
  bool trailing_if() {
    std::size_t test = at_, other = at_;
    auto jump = [&](std::size_t i) { return opens(list_.kind(i)) && list_.partner[i] != TokenList::none; };
    if (list_.kind(at_) == K::if_) {
      while (list_.kind(other) != K::else_ && list_.kind(other) != K::end && !closes(list_.kind(other)))
        other = jump(other) ? list_.partner[other] + 1 : other + 1;
    } else {
      while (test > 0 && list_.kind(test) != K::if_ && list_.kind(test) != K::assign) --test;
    }
    if (list_.kind(other) != K::else_ || test == 0 || list_.kind(test) != K::if_ || !ends_operand(list_.kind(test - 1)))
      return false;
    auto separates = [&](std::size_t i) {
      K k = list_.kind(i);
      return k == K::assign || k == K::comma || k == K::semicolon || k == K::end || k == K::then || k == K::else_;
    };
    // Whole brackets belong to the operand; one that opens before it or closes after it does not.
    std::size_t first = test, last = other;
    while (first > 0 && !separates(first - 1) && !opens(list_.kind(first - 1))) {
      --first;
      if (closes(list_.kind(first)) && list_.partner[first] != TokenList::none) first = list_.partner[first];
    }
    while (!separates(last + 1) && !closes(list_.kind(last + 1)) &&
           (last == other || !list_.tokens[last + 1].first_on_line)) {
      ++last;
      if (jump(last)) last = list_.partner[last];
    }
    if (first == test || last == other) return false;
    std::string choice =
        fmt::format("if {} then {} else {}", text(test + 1, other - 1), text(first, test - 1), text(other + 1, last));
    report(list_.span(test), "the condition of an `if` comes first", fmt::format("write `{}`", choice));
    d_.fix(join(list_.span(first), list_.span(last)), choice);
    return true;
  }

  // -> f32[8] { … }, -> y: f32[8] { … }
  bool results_without_names() {
    if (before() != K::arrow || list_.kind(at_) != K::name) return false;
    bool named = list_.kind(at_ + 1) == K::colon;
    std::size_t type = named ? at_ + 2 : at_, last = operand_end(type);
    if (list_.kind(last) != K::rbracket) return false;
    std::string result = fmt::format("({}{})", named ? "" : "y: ", text(at_, last));
    report(join(list_.span(at_), list_.span(last)), "results must have names and be in parentheses",
           fmt::format("write `-> {}`", result));
    d_.fix(d_.span, result);
    return true;
  }

  // x << 1
  bool shift() {
    K sign = list_.kind(at_);
    if ((sign != K::less && sign != K::greater) || before() != sign || !touches_previous() || at_ < 2) return false;
    std::size_t first = operand_begin(at_ - 2), last = operand_end(at_ + 1);
    std::string fix_text =
        fmt::format("{}({}, {})", sign == K::less ? "shl" : "shr", text(first, at_ - 2), text(at_ + 1, last));
    report(join(list_.span(at_ - 1), list_.span(at_)),
           fmt::format("`{0}{0}` has no meaning in Tap", list_.text_of(at_)), fmt::format("write `{}`", fix_text));
    d_.fix(join(list_.span(first), list_.span(last)), fix_text);
    return true;
  }
};

}  // namespace

bool habit_of_another_language(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  return Habits(list, problem.token, d).found();
}

}  // namespace tap
