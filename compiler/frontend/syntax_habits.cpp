#include "compiler/frontend/syntax_habits.h"

#include <fmt/format.h>

#include "compiler/frontend/builtins.h"

namespace tap {
namespace {

using K = TokenKind;

class Habits {
 public:
  Habits(const TokenList& list, std::size_t at, Diagnostic& d) : list_(list), at_(at), d_(d) {}

  bool found() {
    return comment() || power() || update() || choice() || loop() || range() || fill() || steps() ||
           name_of_reduction() || slice() || inclusive_range() || named_argument() || product() || cell_of_call() ||
           shift();
  }

  bool found_in_statement() { return word() || reduction() || bare_operand(); }

 private:
  K before(std::size_t n = 1) const { return at_ >= n ? list_.kind(at_ - n) : K::end; }
  bool touches_previous() const { return at_ > 0 && list_.tokens[at_ - 1].end == list_.tokens[at_].begin; }
  bool ends_operand(K k) const {
    return k == K::name || k == K::rbracket || k == K::rparen || k == K::integer || k == K::float_;
  }
  std::string text(std::size_t first, std::size_t last) const {
    Span all = join(list_.span(first), list_.span(last));
    return std::string(list_.text.substr(all.begin, all.end - all.begin));
  }
  bool tell(Span span, std::string message, std::string help) {
    d_.span = span;
    d_.message = std::move(message);
    d_.help(std::move(help));
    return true;
  }

  // The first token of the operand that ends at `last`: a name, a number, or brackets with the name before them.
  std::size_t operand_begin(std::size_t last) const {
    if (!closes(list_.kind(last)) || list_.partner[last] == TokenList::none) return last;
    std::size_t open = list_.partner[last];
    return open > 0 && list_.kind(open - 1) == K::name ? open - 1 : open;
  }
  std::size_t operand_end(std::size_t first) const {
    std::size_t next = list_.kind(first) == K::name ? first + 1 : first;
    bool brackets = opens(list_.kind(next)) && list_.partner[next] != TokenList::none;
    return brackets ? list_.partner[next] : first;
  }

  bool comment() {
    if (list_.kind(at_) != K::hash) return false;
    tell(list_.span(at_), "`#` begins no comment in Tap", "a comment is written `// …`");
    d_.fix(d_.span, "//");
    return true;
  }

  bool power() {
    if (list_.kind(at_) != K::times || before() != K::times || !touches_previous()) return false;
    Span stars = join(list_.span(at_ - 1), list_.span(at_));
    if (at_ < 2 || !ends_operand(before(2))) return tell(stars, "`**` has no meaning in Tap", "a power is `pow(x, 2)`");
    std::size_t first = operand_begin(at_ - 2), last = operand_end(at_ + 1);
    std::string power = fmt::format("pow({}, {})", text(first, at_ - 2), text(at_ + 1, last));
    tell(stars, "`**` has no meaning in Tap",
         fmt::format("a power is `{}`; a square may also be written `x * x`", power));
    d_.fix(join(list_.span(first), list_.span(last)), power);
    return true;
  }

  bool update() {
    K sign = before();
    bool arithmetic = sign == K::plus || sign == K::minus || sign == K::times || sign == K::divide;
    if (list_.kind(at_) != K::assign || !arithmetic || !touches_previous()) return false;
    return tell(join(list_.span(at_ - 1), list_.span(at_)),
                fmt::format("`{}=` changes what was written; in Tap every cell is written exactly once",
                            list_.text_of(at_ - 1)),
                "a sum over an index is written `y[i] = sum[k] x[i, k]`, a next value under a name of its own");
  }

  bool choice() {
    if (list_.kind(at_) != K::question || !ends_operand(before())) return false;
    return tell(list_.span(at_), "`?` chooses nothing in Tap", "a choice is written `if c then a else b`");
  }

  bool loop() {
    if (list_.kind(at_) != K::for_ ||
        !(at_ == 0 || list_.tokens[at_].first_on_line || before() == K::lbrace || before() == K::semicolon))
      return false;
    return tell(list_.span(at_), "a `for` stands behind its equation, not around it",
                "write `y[i] = x[i] for i in 0..8`; without the `for`, i runs over all of `y`");
  }

  // for i in range(8)
  bool range() {
    if (at_ < 3 || before() != K::rparen || list_.partner[at_ - 1] == TokenList::none) return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || list_.text_of(open - 1) != "range" || open + 1 == at_ - 1) return false;
    Span call = join(list_.span(open - 1), list_.span(at_ - 1));
    std::size_t comma = open + 1;
    while (comma < at_ - 1 && list_.kind(comma) != K::comma) ++comma;
    bool both = comma < at_ - 1;
    std::string written = (both ? text(open + 1, comma - 1) : "0") + ".." + text(both ? comma + 1 : open + 1, at_ - 2);
    tell(call, fmt::format("a range is not written `{}`", text(open - 1, at_ - 1)), fmt::format("write `{}`", written));
    d_.fix(call, written);
    return true;
  }

  bool fill() {
    if (list_.kind(at_) != K::else_) return false;
    if (before() == K::comma) {
      Span comma = list_.span(at_ - 1);
      tell(join(comma, list_.span(at_)), "the fill of a read follows its last index without a comma",
           "write it as in `x[i - 1 else 0]`");
      d_.fix(comma, "");
      return true;
    }
    if (before() != K::rbracket) return false;
    return tell(list_.span(at_), "the fill of a read stands within its brackets", "write it as in `x[i - 1 else 0]`");
  }

  // iterate -1 (v = x) { … }
  bool steps() {
    if (list_.kind(at_) != K::lp_state) return false;
    for (std::size_t i = at_; i-- > 0 && at_ - i <= 8 && !list_.tokens[i + 1].first_on_line;) {
      if (list_.text_of(i) != "iterate" || i + 1 == at_) continue;
      return tell(
          join(list_.span(i + 1), list_.span(at_ - 1)),
          fmt::format("the steps of an `iterate` are a whole number from 0, or the range of a counter; got `{}`",
                      text(i + 1, at_ - 1)),
          "write `iterate 50 (v = v0) { … }` or `iterate t in 0..n (v = v0) { … }`");
    }
    return false;
  }

  // program p(sum: f32[8]) …: sum[i] + 1 is a reduction without an operand.
  bool name_of_reduction() {
    if (before() != K::rbracket || list_.partner[at_ - 1] == TokenList::none) return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || list_.kind(open - 1) != K::reduction) return false;
    std::string_view name = list_.text_of(open - 1);
    for (std::size_t i = 0; i + 1 < list_.tokens.size(); ++i) {
      if (list_.text_of(i) != name || list_.kind(i + 1) != K::colon) continue;
      d_ = Diagnostic(Code::reserved_name, list_.span(i),
                      fmt::format("`{}` is a built-in name and cannot name a tensor", name));
      d_.label(list_.span(open - 1), "here it is a reduction, without an operand");
      d_.help(fmt::format("choose another name, for example `{}_`", name));
      return true;
    }
    return false;
  }

  // x[i:i + w], x[:, j]
  bool slice() {
    if (list_.kind(at_) != K::colon) return false;
    std::size_t open = at_;
    for (int depth = 0; open > 0 && depth >= 0 && list_.kind(open) != K::lbrace;) {
      --open;
      depth += closes(list_.kind(open)) ? 1 : opens(list_.kind(open)) ? -1 : 0;
    }
    if (list_.kind(open) != K::lbracket || open == 0 || list_.kind(open - 1) != K::name) return false;
    std::string name(list_.text_of(open - 1));
    bool whole = (before() == K::lbracket || before() == K::comma) &&
                 (list_.kind(at_ + 1) == K::comma || list_.kind(at_ + 1) == K::rbracket);
    if (whole)
      return tell(list_.span(at_), "`:` slices nothing in Tap; what stands in brackets is an index",
                  "for all of an axis write an index variable, which stands on the left, too: `y[j] = x[j, i]`");
    return tell(
        list_.span(at_), "`:` slices nothing in Tap; what stands in brackets is an index",
        fmt::format("an index variable runs over the axis or a part of it: `y[j] = {}[i + j] for j in 0..4`", name));
  }

  // 0..=i
  bool inclusive_range() {
    if (list_.kind(at_) != K::assign || (before() != K::range && before() != K::pack) || !touches_previous())
      return false;
    std::size_t last = operand_end(at_ + 1);
    std::string bound = text(at_ + 1, last);
    tell(join(list_.span(at_ - 1), list_.span(at_)), "a range ends before its upper bound, and `..=` is none",
         fmt::format("write `..{} + 1`", bound));
    d_.fix(join(list_.span(at_ - 1), list_.span(last)), fmt::format("..{} + 1", bound));
    return true;
  }

  // conv2d(x, k, pad=1)
  bool named_argument() {
    if (list_.kind(at_) != K::assign || before() != K::name || before(2) != K::comma) return false;
    std::size_t open = at_;
    for (int depth = 0; open > 0 && depth >= 0 && list_.kind(open) != K::lbrace;) {
      --open;
      depth += closes(list_.kind(open)) ? 1 : opens(list_.kind(open)) ? -1 : 0;
    }
    if (list_.kind(open) != K::lparen || open == 0 || list_.kind(open - 1) != K::name) return false;
    tell(join(list_.span(at_ - 1), list_.span(at_)),
         "arguments are given by their position; what has a name is a parameter and stands in `<…>`", "");
    if (std::size_t close = list_.partner[open]; close != TokenList::none) {
      std::string call = with_parameters(open, close);
      d_.help(fmt::format("write `{}`", call)).fix(join(list_.span(open - 1), list_.span(close)), call);
    }
    return true;
  }

  // f(x, a = 1) as f<a = 1>(x): what has a name moves, what has none stays.
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
    return tell(list_.span(shard),
                "`@` multiplies nothing in Tap: behind it stands a sharding, as in `X @ pod[{data}]`",
                fmt::format("a matrix product is `matmul({}, {})` of std, or `y[i, j] = sum[k] a[i, k] * b[k, j]`",
                            left, right));
  }

  // softmax(x)[i]
  bool cell_of_call() {
    if (list_.kind(at_) != K::lbracket || before() != K::rparen || !touches_previous()) return false;
    std::size_t first = operand_begin(at_ - 1);
    if (first == at_ - 1 || list_.kind(first) != K::name) return false;
    return tell(
        list_.span(at_), fmt::format("a cell is read of a name, not of `{}`", text(first, at_ - 1)),
        fmt::format("bind it first, `h = {}`, and read `h{}`", text(first, at_ - 1), text(at_, operand_end(at_))));
  }

  // x << 1
  bool shift() {
    K sign = list_.kind(at_);
    if ((sign != K::less && sign != K::greater) || before() != sign || !touches_previous() || at_ < 2) return false;
    std::size_t first = operand_begin(at_ - 2), last = operand_end(at_ + 1);
    std::string mend =
        fmt::format("{}({}, {})", sign == K::less ? "shl" : "shr", text(first, at_ - 2), text(at_ + 1, last));
    tell(join(list_.span(at_ - 1), list_.span(at_)), fmt::format("`{0}{0}` has no meaning in Tap", list_.text_of(at_)),
         fmt::format("a shift is `{}`", mend));
    d_.fix(join(list_.span(first), list_.span(last)), mend);
    return true;
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
    if (text == "return")
      return tell(list_.span(at_), "`return` has no meaning in Tap: a result is what is written under its name",
                  "write `y = …`, or `y[i] = …` for its cells, where `y` is the result");
    if (text == "where")
      return tell(list_.span(at_), "`where` stands in the head of an operator, not in its body",
                  "a range is written `y[i] = x[i] for i in 0..8`, a condition on cells `if i < 8 then x[i] else 0`");
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

  const TokenList& list_;
  std::size_t at_;
  Diagnostic& d_;
};

}  // namespace

std::string instead_of_reduction(std::string_view name, std::string_view over) {
  if (name != "mean" && name != "average" && name != "avg") return {};
  return fmt::format(
      "a mean is a sum by the number of its terms: `(sum{} …) / f32(n)`, or an operator such as `mean_all(x)` of std",
      over);
}

bool habit_of_another_language(const TokenList& list, const SyntaxProblem& problem, Diagnostic& d) {
  return Habits(list, problem.token, d).found();
}

bool habit_in_a_statement(const TokenList& list, std::size_t first, Diagnostic& d) {
  return Habits(list, first, d).found_in_statement();
}

}  // namespace tap
