// The context of a syntax error, for the detection of habits from other languages: the surrounding tokens, whole
// operands, and the message to replace.
#pragma once

#include <string>

#include "compiler/frontend/syntax/tokens.h"
#include "support/diagnostic.h"

namespace tap {

class HabitContext {
 public:
  HabitContext(const TokenList& list, std::size_t at, Diagnostic& d) : list_(list), at_(at), d_(d) {}

 protected:
  TokenKind before(std::size_t n = 1) const { return at_ >= n ? list_.kind(at_ - n) : TokenKind::end; }
  bool touches_previous() const { return at_ > 0 && list_.tokens[at_ - 1].end == list_.tokens[at_].begin; }
  bool ends_operand(TokenKind k) const {
    return k == TokenKind::name || k == TokenKind::rbracket || k == TokenKind::rparen || k == TokenKind::integer ||
           k == TokenKind::float_;
  }
  std::string text(std::size_t first, std::size_t last) const {
    Span all = join(list_.span(first), list_.span(last));
    return std::string(list_.text.substr(all.begin, all.end - all.begin));
  }
  bool report(Span span, std::string message, std::string help) {
    d_.span = span;
    d_.message = std::move(message);
    d_.help(std::move(help));
    return true;
  }
  // The innermost open bracket of this body.
  std::size_t open_before() const {
    std::size_t open = at_;
    for (int depth = 0; open > 0 && depth >= 0 && list_.kind(open) != TokenKind::lbrace;) {
      --open;
      depth += closes(list_.kind(open)) ? 1 : opens(list_.kind(open)) ? -1 : 0;
    }
    return open;
  }

  // The first token of the operand that ends at `last`: a name, a number, or brackets with the name before them.
  std::size_t operand_begin(std::size_t last) const {
    if (!closes(list_.kind(last)) || list_.partner[last] == TokenList::none) return last;
    std::size_t open = list_.partner[last];
    return open > 0 && list_.kind(open - 1) == TokenKind::name ? open - 1 : open;
  }
  std::size_t operand_end(std::size_t first) const {
    std::size_t next = list_.kind(first) == TokenKind::name ? first + 1 : first;
    bool brackets = opens(list_.kind(next)) && list_.partner[next] != TokenList::none;
    return brackets ? list_.partner[next] : first;
  }

  // x[i][j]: `name` is x, `second` is the second bracket.
  bool merge_brackets(std::size_t name, std::size_t second) {
    if (list_.partner[second] == TokenList::none) return false;
    std::string fix_text = std::string(list_.text_of(name)) + "[" + text(name + 2, second - 2) + ", " +
                           text(second + 1, list_.partner[second] - 1) + "]";
    report(join(list_.span(second - 1), list_.span(second)), "all indices of a cell belong in one pair of brackets",
           "write `" + fix_text + "`");
    d_.fix(join(list_.span(name), list_.span(list_.partner[second])), fix_text);
    return true;
  }

  const TokenList& list_;
  std::size_t at_;
  Diagnostic& d_;
};

// Loops, ranges and slices of other languages (syntax_habits_ranges.cpp).
bool habit_of_ranges(const TokenList& list, std::size_t at, Diagnostic& d);

}  // namespace tap
