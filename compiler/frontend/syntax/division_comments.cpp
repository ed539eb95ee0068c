#include "compiler/frontend/syntax/division_comments.h"

#include <algorithm>
#include <cctype>

#include "support/element_type.h"

namespace tap {
namespace {

// The last token before the comment, if it ends an operand on the comment's line.
const Token* operand_before(const TokenList& list, const Comment& comment) {
  auto next = std::find_if(list.tokens.begin(), list.tokens.end(),
                           [&](const Token& token) { return token.begin >= comment.begin; });
  if (next == list.tokens.begin() || !ends_operand(std::prev(next)->kind)) return nullptr;
  std::uint32_t before = std::prev(next)->end;
  bool same_line = list.text.substr(before, comment.begin - before).find('\n') == std::string_view::npos;
  return same_line ? &*std::prev(next) : nullptr;
}

// Parses a possible divisor and the rest of an expression: `2`, `w[i]`, `(n - 1) * 2 +`. A single word is a comment.
class Divisor {
 public:
  explicit Divisor(std::string_view text) : text_(text) {}

  bool reads() {
    bool plain = false;
    if (!operand(plain) || plain) return false;
    while (!at_end()) {
      if (std::string_view("+-*/%").find(text_[at_]) == std::string_view::npos) return false;
      ++at_;
      space();
      if (at_end()) return true;  // the expression continues on the next line
      if (!operand(plain)) return false;
    }
    return true;
  }

 private:
  bool is(int (*kind)(int)) const { return at_ < text_.size() && kind(static_cast<unsigned char>(text_[at_])); }
  bool is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool at_end() {
    space();
    std::string_view rest = text_.substr(std::min(at_, text_.size()));
    return rest.find_first_not_of(" ;)]}") == std::string_view::npos;
  }
  void space() {
    while (is(' ')) ++at_;
  }

  bool operand(bool& plain_word) {
    space();
    std::size_t begin = at_;
    plain_word = false;
    if (is('(')) return bracket(')');
    if (is(std::isdigit)) {
      while (is(std::isdigit) || is('.')) ++at_;
      return !is(std::isalpha);
    }
    while (is(std::isalnum) || is('_')) ++at_;
    std::string_view word = text_.substr(begin, at_ - begin);
    if (word.empty()) return false;
    plain_word = true;
    if (!is('[')) return !is('(') && !is('.');
    plain_word = false;
    return !element_type_named(word) && bracket(']');
  }

  // Everything up to the closer; a list is not an operand.
  bool bracket(char closer) {
    bool words = false;
    std::size_t end = text_.find(closer, at_);
    if (end == std::string_view::npos) return false;
    std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    bool letters = false;
    for (std::size_t k = 0; k + 1 < inside.size(); ++k) {  // two adjacent words
      letters = std::isalnum(static_cast<unsigned char>(inside[k])) != 0;
      if (letters && inside[k + 1] == ' ') {
        std::size_t next = inside.find_first_not_of(' ', k + 1);
        words = words || (next != std::string_view::npos && std::isalnum(static_cast<unsigned char>(inside[next])));
      }
    }
    if (words || inside.empty() || (closer == ')' && inside.find(',') != std::string_view::npos)) return false;
    at_ = end + 1;
    space();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string_view text_of(const TokenList& list, const Comment& comment) {
  return list.text.substr(comment.begin + 2, comment.end - comment.begin - 2);
}

}  // namespace

const Comment* comment_like_division(const TokenList& list, std::uint32_t opener, char closer) {
  for (const Comment& comment : list.comments) {
    if (comment.kind != CommentKind::line || comment.begin < list.tokens[opener].end) continue;
    std::string_view text = text_of(list, comment);
    std::size_t close = text.find(closer);
    if (close == std::string_view::npos) continue;
    std::string_view divisor = text.substr(0, close);
    while (divisor.starts_with(' ')) divisor.remove_prefix(1);
    while (divisor.ends_with(' ')) divisor.remove_suffix(1);
    bool one_word = !divisor.empty() && divisor.find_first_of(" \t") == std::string_view::npos;
    if (!one_word && !divisor.starts_with('(')) continue;
    if (operand_before(list, comment)) return &comment;
  }
  return nullptr;
}

void warn_of_division_comments(const TokenList& list, Diagnostics& diagnostics) {
  for (const Comment& comment : list.comments) {
    if (comment.kind != CommentKind::line || !Divisor(text_of(list, comment)).reads()) continue;
    const Token* before = operand_before(list, comment);
    if (!before || comment.begin > before->end + 1) continue;
    Diagnostic d(Code::comment_for_division, {list.file, comment.begin, comment.end},
                 "this is a comment, so it is not computed");
    d.label({list.file, before->begin, before->end}, "the value ends before the comment");
    offer_division(list, comment, d);
    diagnostics.report(std::move(d));
  }
}

void offer_division(const TokenList& list, const Comment& comment, Diagnostic& d) {
  d.help("`//` starts a comment; `/` of integers is floor division");
  d.fix({list.file, comment.begin, comment.begin + 2}, "/");
}

}  // namespace tap
