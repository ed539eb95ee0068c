// Runs the lexer that ANTLR generated from grammar/Tap.g4 and stores each token in 12 bytes.
//
// The lexer sees bytes, not code points: outside comments and strings Tap is ASCII, and check_bytes has verified that
// the rest is UTF-8. Every byte above 0x7F looks like 0x7F to it, which keeps its tables small.
#include <antlr4-runtime.h>
#include <fmt/format.h>

#include <array>
#include <optional>

#include "compiler/frontend/syntax/tokens.h"
#include "compiler/frontend/syntax/written_signs.h"
#include "grammar/TapLexer.h"
#include "grammar/TapParser.h"

namespace tap {

namespace {

using grammar::TapLexer;
using grammar::TapParser;  // lexer and parser share token numbers; retyped tokens are only defined here

constexpr auto kind_of_type = [] {
  std::array<TokenKind, 128> table{};
#define TAP_TOKEN(name, grammar, shown) table[TapParser::grammar] = TokenKind::name;
#include "compiler/frontend/syntax/tokens.def"
#undef TAP_TOKEN
  return table;
}();

class Bytes final : public antlr4::CharStream {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}

  void consume() override { ++at_; }
  std::size_t LA(ssize_t i) override {
    std::size_t at = i > 0 ? at_ + static_cast<std::size_t>(i) - 1 : at_ - static_cast<std::size_t>(-i);
    if (i == 0 || at >= text_.size()) return antlr4::IntStream::EOF;
    return std::min<std::size_t>(static_cast<unsigned char>(text_[at]), 0x7F);
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return at_; }
  void seek(std::size_t index) override { at_ = index; }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// The value of a hexadecimal number, or of one with `_` or a suffix, if that was probably intended.
std::string plain_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t value = 0;
    for (char c : text.substr(2)) {
      bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!digit || value >> 59 != 0) return {};
      value = value * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return text.size() > 2 ? std::to_string(value) : std::string();
  }
  constexpr std::string_view suffixes = "fFlLuU";  // of C: 0.5f
  if (text.size() > 1 && suffixes.find(text.back()) != text.npos) text.remove_suffix(1);
  std::string digits;
  for (char c : text) {
    if (c == '_') continue;
    if ((c < '0' || c > '9') && c != '.') return {};
    digits += c;
  }
  return digits;
}

std::string excerpt(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 37)) + "...";
}

class LexicalProblems {
 public:
  LexicalProblems(const TokenList& list, Diagnostics& diagnostics) : list_(list), diagnostics_(diagnostics) {}

  // Reports the token and returns false if it is invalid.
  bool check(const Token& t) {
    switch (t.kind) {
      case TokenKind::bad_number: bad_number(t); return false;
      case TokenKind::bad: stray(t); return false;
      case TokenKind::open_string:
        report(Code::unterminated, t, "this string is not closed", "close it with `\"` on its own line");
        return false;
      case TokenKind::open_comment:
        diagnostics_.report(
            Diagnostic(Code::unterminated, Span{list_.file, t.begin, t.begin + 2}, "this comment is not closed")
                .help("close it with `*/`"));
        return false;
      case TokenKind::integer:
      case TokenKind::float_: return !leading_zero(t);
      default: return true;
    }
  }

 private:
  // 010 is eight in some languages and ten in others.
  bool leading_zero(const Token& t) {
    std::string_view text = list_.text_of(t);
    std::size_t zeros = 0;
    while (zeros + 1 < text.size() && text[zeros] == '0' && text[zeros + 1] >= '0' && text[zeros + 1] <= '9') ++zeros;
    if (zeros == 0) return false;
    std::string plain(text.substr(zeros));
    diagnostics_.report(Diagnostic(Code::literal_form, Span{list_.file, t.begin, t.end},
                                   fmt::format("`{}` has a leading zero; number literals are decimal", excerpt(text)))
                            .help(fmt::format("write `{}`", excerpt(plain)))
                            .fix(Span{list_.file, t.begin, t.end}, plain));
    return true;
  }

  void report(Code code, const Token& t, std::string message, std::string help) {
    diagnostics_.report(Diagnostic(code, Span{list_.file, t.begin, t.end}, std::move(message)).help(std::move(help)));
  }

  void bad_number(const Token& t) {
    std::string_view text = list_.text_of(t);
    Diagnostic d(Code::literal_form, Span{list_.file, t.begin, t.end},
                 fmt::format("`{}` is not a valid number", excerpt(text)));
    if (std::string plain = plain_number(text); !plain.empty()) {
      d.help(fmt::format("write `{}`", plain)).fix(d.span, plain);
    } else {
      d.help("numbers are decimal, as in `16`, `0.5` or `1e-3`, and a name does not start with a digit");
    }
    diagnostics_.report(std::move(d));
  }

  void stray(const Token& t) {
    std::string_view text = list_.text_of(t);
    unsigned char c = static_cast<unsigned char>(text[0]);
    if (c >= 0x80) {
      Diagnostic d(Code::not_ascii_name, Span{list_.file, t.begin, t.end},
                   fmt::format("`{}` is not ASCII; non-ASCII characters are allowed only in comments and strings",
                               excerpt(text)));
      std::string_view ascii = ascii_of_sign(text);
      d.help(ascii.empty() ? "spell it in ASCII letters" : fmt::format("write `{}`", ascii));
      bool word = !ascii.empty() && ascii[0] >= 'a' && ascii[0] <= 'z';
      if (!ascii.empty()) d.fix(d.span, word ? with_spaces(t, std::string(ascii)) : std::string(ascii));
      diagnostics_.report(std::move(d));
      return;
    }
    if (c < 0x20 || c == 0x7F) {
      report(Code::syntax, t, fmt::format("the control character 0x{:02x} has no meaning here", c), "remove it");
      return;
    }
    std::string help;
    if (c == '&') help = "write `a and b` for conditions, `bitand(a, b)` for the bits of integers";
    if (c == '|') help = "write `a or b` for conditions, `bitor(a, b)` for the bits of integers";
    if (c == '!') help = "write `not a`";
    if (c == '~') help = "write `bitnot(a)` for the bitwise complement";
    if (c == '^') help = "write `pow(a, b)` for a power, `bitxor(a, b)` for the bits of integers";
    if (c == '\'') help = "use double quotes for strings";
    Diagnostic d(Code::syntax, Span{list_.file, t.begin, t.end},
                 fmt::format("`{}` has no meaning in Tap", excerpt(text)));
    d.help(std::move(help));
    if (text == "&&" || text == "||") d.fix(d.span, with_spaces(t, text == "&&" ? "and" : "or"));
    if (text == "!" && !follows_operand(t)) d.fix(d.span, "not ");
    diagnostics_.report(std::move(d));
  }

  bool follows_operand(const Token& t) const {
    std::size_t at = t.begin;
    while (at > 0 && list_.text[at - 1] == ' ') --at;
    char before = at > 0 ? list_.text[at - 1] : ' ';
    return before == ']' || before == ')' || before == '_' || (before >= '0' && before <= '9') ||
           (before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z');
  }

  // A word in place of a symbol, with a space on each side.
  std::string with_spaces(const Token& t, std::string word) const {
    if (t.begin > 0 && list_.text[t.begin - 1] != ' ') word.insert(0, " ");
    if (t.end < list_.text.size() && list_.text[t.end] != ' ') word += ' ';
    return word;
  }

  const TokenList& list_;
  Diagnostics& diagnostics_;
};

CommentKind comment_kind(TokenKind kind, std::string_view text) {
  if (kind == TokenKind::block_comment) return CommentKind::block;
  return kind == TokenKind::doc && !text.starts_with("////") ? CommentKind::doc : CommentKind::line;
}

// `1.` and `.5`: the lexer sees an integer and a dot.
void check_dots(TokenList& list, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i + 1 < list.tokens.size(); ++i) {
    if (list.kind(i) != TokenKind::dot) continue;
    bool after_number = i > 0 && list.kind(i - 1) == TokenKind::integer &&
                        list.tokens[i - 1].end == list.tokens[i].begin;
    bool before_number = list.kind(i + 1) == TokenKind::integer && list.tokens[i + 1].begin == list.tokens[i].end;
    if (!after_number && !before_number) continue;
    Span span = join(list.span(after_number ? i - 1 : i), list.span(before_number ? i + 1 : i));
    std::string_view text = list.text.substr(span.begin, span.end - span.begin);
    std::string replacement = after_number ? std::string(text) + "0" : "0" + std::string(text);
    diagnostics.report(Diagnostic(Code::literal_form, span,
                                  fmt::format("`{}` is not a valid number: a float has digits on both sides of the dot",
                                              excerpt(text)))
                           .help(fmt::format("write `{}`", excerpt(replacement)))
                           .fix(span, replacement));
    list.faults.push_back(static_cast<std::uint32_t>(i));
  }
}

// The token that replaces a faulty one for the parser; nothing if it is dropped.
std::optional<TokenKind> instead_of(TokenKind faulty, std::string_view text) {
  if (faulty == TokenKind::bad_number) return TokenKind::integer;
  if (faulty == TokenKind::open_string) return TokenKind::string;
  if (text == "&&" || text == "&") return TokenKind::and_;
  if (text == "||" || text == "|") return TokenKind::or_;
  if (text == "^") return TokenKind::times;
  return std::nullopt;
}

}  // namespace

void lex(const SourceMap& sources, Span part, TokenList& list, Diagnostics& diagnostics) {
  list.file = part.file;
  list.text = sources.file(part.file).text();
  list.tokens.reserve((part.end - part.begin) / 3 + 1);
  Bytes bytes(list.text.substr(0, part.end));
  bytes.seek(part.begin);
  TapLexer lexer(&bytes);
  lexer.removeErrorListeners();
  auto* match = lexer.getInterpreter<antlr4::atn::LexerATNSimulator>();
  LexicalProblems problems(list, diagnostics);
  bool first_on_line = true;
  while (true) {
    Token t;
    t.begin = static_cast<std::uint32_t>(bytes.index());
    std::size_t type = match->match(&bytes, antlr4::Lexer::DEFAULT_MODE);
    t.end = static_cast<std::uint32_t>(bytes.index());
    t.first_on_line = first_on_line;
    if (type == antlr4::Token::EOF) {
      t.end = t.begin;
      list.tokens.push_back(t);
      break;
    }
    t.kind = kind_of_type[type];
    switch (t.kind) {
      case TokenKind::space: first_on_line |= list.text_of(t).find_first_of("\r\n") != std::string_view::npos; continue;
      case TokenKind::doc:
      case TokenKind::line_comment:
      case TokenKind::block_comment:
        list.comments.push_back({t.begin, t.end, comment_kind(t.kind, list.text_of(t))});
        first_on_line |= list.text_of(t).find_first_of("\r\n") != std::string_view::npos;
        continue;
      case TokenKind::bad:  // a run of non-ASCII bytes at once, and `&&` too
        while (bytes.LA(1) == std::min<std::size_t>(static_cast<unsigned char>(list.text[t.begin]), 0x7F))
          bytes.consume();
        t.end = static_cast<std::uint32_t>(bytes.index());
        break;
      default: break;
    }
    first_on_line = false;
    if (!problems.check(t)) {
      list.faults.push_back(static_cast<std::uint32_t>(list.tokens.size()));
      if (t.kind == TokenKind::open_comment) bytes.seek(part.end);
      auto kind = instead_of(t.kind, list.text_of(t));
      if (!kind) continue;
      t.kind = *kind;
    }
    list.tokens.push_back(t);
  }
  check_dots(list, diagnostics);
}

}  // namespace tap
