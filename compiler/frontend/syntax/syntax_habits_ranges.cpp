// Habits for ranges: loops around statements, Python's `range`, slices, inclusive bounds.
//
//   for i in 0..n { y[i] = x[i] }      y[i] = x[i] for i in 0..n
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "compiler/frontend/syntax/habit_context.h"
#include "compiler/frontend/syntax/syntax_habits.h"

namespace tap {
namespace {

using K = TokenKind;

class Ranges : HabitContext {
 public:
  using HabitContext::HabitContext;

  bool found() { return loop() || c_loop() || range() || range_by_colon() || slice() || inclusive_range(); }

 private:
  // The range in a loop's head, in Tap: `0..n` for `i in 0..n` and for `i in range(n)`. None for other forms.
  std::optional<std::string> range_of_head() const {
    std::size_t in = at_ + 2, lo = at_ + 3;
    if (list_.kind(at_ + 1) != K::name || list_.text_of(in) != "in" || list_.kind(lo) == K::end) return std::nullopt;
    if (list_.text_of(lo) == "range" && list_.kind(lo + 1) == K::lparen) return of_call(lo + 1);
    std::size_t last = lo;
    while (list_.kind(last + 1) != K::end && list_.kind(last + 1) != K::lbrace && !list_.tokens[last + 1].first_on_line)
      ++last;
    std::string range = text(lo, last);
    bool is_range = range.find("..") != std::string::npos && range.find("..=") == std::string::npos;
    return is_range ? std::optional(range) : std::nullopt;
  }

  // `0..n` for (n), `a..b` for (a, b), with the bracket at `open`.
  std::optional<std::string> of_call(std::size_t open) const {
    std::size_t close = list_.partner[open], comma = open + 1;
    if (close == TokenList::none || close == open + 1) return std::nullopt;
    while (comma < close && list_.kind(comma) != K::comma) comma = operand_end(comma) + 1;
    bool both = comma < close;
    return (both ? text(open + 1, comma - 1) : "0") + ".." + text(both ? comma + 1 : open + 1, close - 1);
  }

  bool loop() {
    if (list_.kind(at_) != K::for_ ||
        !(at_ == 0 || list_.tokens[at_].first_on_line || before() == K::lbrace || before() == K::semicolon))
      return false;
    std::string message = "`for` follows its equation; it does not enclose it";
    bool plain = list_.kind(at_ + 1) == K::name;
    std::string variable = plain ? std::string(list_.text_of(at_ + 1)) : "i";
    if (auto range = range_of_head())
      return report(
          list_.span(at_), message,
          fmt::format("write only the equation, followed by `for {} in {}`; without a range, `{}` runs over the "
                      "whole axis",
                      variable, *range, variable));
    return report(
        list_.span(at_), message,
        fmt::format("write only the equation, `y[{0}] = …`: `{0}` runs over the whole axis; for a part of it, append "
                    "`for {0} in lo..hi`",
                    variable));
  }

  // for (int i = 0; i < n; i++)
  bool c_loop() {
    std::size_t open = open_before();
    if (list_.kind(open) != K::lparen || open == 0 || list_.text_of(open - 1) != "for") return false;
    std::size_t name = list_.kind(open + 2) == K::name ? open + 2 : open + 1;
    std::string variable(list_.kind(name) == K::name ? list_.text_of(name) : "i");
    return report(
        list_.span(open - 1), "Tap has no loops around statements: an equation covers all cells of its left side",
        fmt::format("write only the equation, `y[{0}] = …`: `{0}` runs over the whole axis; for a part of it, append "
                    "`for {0} in lo..hi`",
                    variable));
  }

  // for i in 0:4
  bool range_by_colon() {
    if (list_.kind(at_) != K::colon || at_ < 3 || list_.kind(operand_begin(at_ - 1) - 1) != K::in) return false;
    std::size_t first = operand_begin(at_ - 1), last = operand_end(at_ + 1);
    std::string written = text(first, at_ - 1) + ".." + text(at_ + 1, last);
    report(list_.span(at_), "the bounds of a range are separated by `..`", fmt::format("write `{}`", written));
    d_.fix(join(list_.span(first), list_.span(last)), written);
    return true;
  }

  // for i in range(8)
  bool range() {
    if (at_ < 3 || before() != K::rparen || list_.partner[at_ - 1] == TokenList::none) return false;
    std::size_t open = list_.partner[at_ - 1];
    if (open == 0 || list_.text_of(open - 1) != "range") return false;
    auto written = of_call(open);
    if (!written) return false;
    Span call = join(list_.span(open - 1), list_.span(at_ - 1));
    report(call, fmt::format("`{}` is not a range in Tap", text(open - 1, at_ - 1)),
           fmt::format("write `{}`", *written));
    d_.fix(call, *written);
    return true;
  }

  static std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
  }

  // A name for an index variable that the slice does not use itself.
  std::string free_variable(std::size_t open) const {
    for (const char* name : {"j", "k", "l", "m"}) {
      bool used = false;
      for (std::size_t i = open; i < list_.partner[open]; ++i) used = used || list_.text_of(i) == name;
      if (!used) return name;
    }
    return "j_";
  }

  // `x[2:6]` as an equation: y[j] = x[2 + j] for j in 0..4. Missing bounds are the axis's own.
  std::string as_equation(const std::string& name, std::size_t open) const {
    std::size_t begin = at_, end = at_ + 1;
    while (begin > open + 1 && list_.kind(begin - 1) != K::comma) --begin;
    auto upto = [&](std::size_t from) {
      while (list_.kind(from) != K::comma && list_.kind(from) != K::rbracket && list_.kind(from) != K::colon &&
             list_.kind(from) != K::end)
        from = operand_end(from) + 1;
      return from;
    };
    end = upto(end);
    std::string lo = begin < at_ ? text(begin, at_ - 1) : "0", hi = end > at_ + 1 ? text(at_ + 1, end - 1) : "", step;
    if (std::size_t last = upto(end + 1); list_.kind(end) == K::colon && last > end + 1) step = text(end + 1, last - 1);
    const std::string var = free_variable(open), scaled = step.empty() || step == "1" ? var : step + "*" + var;
    std::string count;
    if (!hi.empty()) {
      auto first = number(lo), last = number(hi), by = number(step.empty() ? "1" : step);
      bool known = first && last && by && *last >= *first && *by > 0;
      if (known) count = std::to_string((*last - *first + *by - 1) / *by);
      else if (!step.empty()) count = "count";
      else if (lo == "0") count = hi;
      else if (hi.starts_with(lo + " + ")) count = hi.substr(lo.size() + 3);
      else count = hi + " - " + (begin + 1 == at_ ? lo : "(" + lo + ")");
    }
    return fmt::format("y[{}] = {}[{}{}]{}", var, name, lo == "0" ? "" : lo + " + ", scaled,
                       count.empty() ? "" : fmt::format(" for {} in 0..{}", var, count));
  }

  // x[i:i + w], x[:, j]
  bool slice() {
    if (list_.kind(at_) != K::colon) return false;
    std::size_t open = open_before();
    if (list_.kind(open) != K::lbracket || open == 0 || list_.kind(open - 1) != K::name) return false;
    if (list_.partner[open] == TokenList::none) return false;
    bool whole = (before() == K::lbracket || before() == K::comma) &&
                 (list_.kind(at_ + 1) == K::comma || list_.kind(at_ + 1) == K::rbracket);
    std::string message = "Tap has no slices with `:`; brackets contain indices";
    if (whole)
      return report(list_.span(at_), message,
                    "for a whole axis, write an index variable, here and on the left: `y[j] = x[j, i]`");
    return report(list_.span(at_), message,
                  fmt::format("an index variable runs over the axis or a part of it: `{}`",
                              as_equation(std::string(list_.text_of(open - 1)), open)));
  }

  // 0..=i
  bool inclusive_range() {
    if (list_.kind(at_) != K::assign || (before() != K::range && before() != K::pack) || !touches_previous())
      return false;
    std::size_t last = operand_end(at_ + 1);
    std::string bound = text(at_ + 1, last);
    report(join(list_.span(at_ - 1), list_.span(at_)), "a range excludes its upper bound; there is no `..=`",
           fmt::format("write `..{} + 1`", bound));
    d_.fix(join(list_.span(at_ - 1), list_.span(last)), fmt::format("..{} + 1", bound));
    return true;
  }
};

}  // namespace

bool habit_of_ranges(const TokenList& list, std::size_t at, Diagnostic& d) { return Ranges(list, at, d).found(); }

}  // namespace tap
