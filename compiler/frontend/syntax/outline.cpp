// Finds the declarations of a file in one fast pass over its bytes, without ANTLR: it recognises comments, strings,
// brackets and words, and the start and end of each declaration. A library of a thousand lines takes well under a
// millisecond, and then only the declarations in use are parsed.
//
//   op f(x: f32[n]) -> (y: f32[n]) { … }   dim n = 4      gives   op f, dim n
//
// A declaration begins where the retyping finds one (retyping.cpp): outside all brackets, at one of the words below that
// follows the end of an operand and precedes a name.
#include <cctype>
#include <optional>

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

namespace {

bool starts_name(unsigned char c) { return (c | 0x20u) - 'a' < 26u || c == '_'; }
bool in_name(unsigned char c) { return starts_name(c) || c - unsigned{'0'} < 10u; }

// A word, number, string or symbol outside all brackets; a bracket with its contents is one symbol, its closer.
struct OutlinePiece {
  enum class Kind : std::uint8_t { word, number, string, mark, end } kind = Kind::end;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

class Skimmer {
 public:
  Skimmer(std::string_view text, std::uint32_t begin) : text_(text), at_(begin) {}

  // The first documentation comment between the last two pieces, if any: the declaration starts there.
  std::optional<std::uint32_t> doc() const { return doc_; }

  OutlinePiece next() {
    doc_.reset();
    skip_space();
    OutlinePiece p;
    p.begin = at_;
    if (at_ >= text_.size()) return p.end = at_, p;
    unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (starts_name(c)) {
      p.kind = OutlinePiece::Kind::word;
      while (at_ < text_.size() && in_name(static_cast<unsigned char>(text_[at_]))) ++at_;
    } else if (c - unsigned{'0'} < 10u) {
      p.kind = OutlinePiece::Kind::number;
      while (at_ < text_.size() && in_name(static_cast<unsigned char>(text_[at_]))) ++at_;
    } else if (c == '"') {
      p.kind = OutlinePiece::Kind::string;
      skip_string();
    } else {
      p.kind = OutlinePiece::Kind::mark;
      if (c == '(' || c == '[' || c == '{') skip_bracket();
      else ++at_;
    }
    p.end = at_;
    return p;
  }

 private:
  char peek(std::size_t k) const { return at_ + k < text_.size() ? text_[at_ + k] : '\0'; }

  // At a `/`: skips a comment and returns whether there was one.
  bool skip_comment() {
    if (peek(1) == '/') {
      if (peek(2) == '/' && peek(3) != '/' && !doc_) doc_ = at_;
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      return true;
    }
    if (peek(1) != '*') return false;
    std::size_t end = text_.find("*/", at_ + 2);
    at_ = static_cast<std::uint32_t>(end == std::string_view::npos ? text_.size() : end + 2);
    return true;
  }

  void skip_space() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++at_;
      } else if (c != '/' || !skip_comment()) {
        return;
      }
    }
  }

  void skip_string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    if (peek(0) == '"') ++at_;
  }

  void skip_bracket() {
    std::size_t depth = 0;
    std::optional<std::uint32_t> doc = doc_;
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '/' && skip_comment()) continue;
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
    }
    doc_ = doc;
  }

  std::string_view text_;
  std::uint32_t at_;
  std::optional<std::uint32_t> doc_;
};

}  // namespace

Outline outline(const SourceMap& sources, FileId file) {
  const std::string& text = sources.file(file).text();
  auto word_of = [&](const OutlinePiece& p) { return std::string_view(text).substr(p.begin, p.end - p.begin); };
  auto is_starter = [&](const OutlinePiece& p) {
    return p.kind == OutlinePiece::Kind::word && is_declaration_word(word_of(p));
  };
  // An operator of an expression, or a separator: an operand follows.
  auto expects_operand = [&](const OutlinePiece& p) {
    if (p.kind != OutlinePiece::Kind::mark) return false;
    char last = text[p.end - 1];
    return last != ')' && last != ']' && last != '}' && last != ';' &&
           !(last == '.' && p.begin > 0 && text[p.begin - 1] == '.');
  };
  Outline result;
  Skimmer skimmer(text, whole_file(sources, file).begin);
  OutlinePiece previous, current = skimmer.next();
  std::optional<std::uint32_t> doc = skimmer.doc();
  bool after_starter = false, operand_expected = false;
  while (current.kind != OutlinePiece::Kind::end) {
    OutlinePiece next = skimmer.next();
    bool named = next.kind == OutlinePiece::Kind::word;
    bool begins = is_starter(current) && named && !after_starter && !operand_expected;
    if (begins) {
      Outline::Item item{std::string(word_of(current)), {}, Span{file, doc.value_or(current.begin), current.end}};
      if (item.keyword != "rewrite" && item.keyword != "extern") item.name = word_of(next);
      result.items.push_back(std::move(item));
    } else if (!result.items.empty()) {
      Outline::Item& item = result.items.back();
      if (item.keyword == "extern" && item.name.empty() && previous.kind == OutlinePiece::Kind::word &&
          word_of(previous) == "extern" && named)
        item.name = word_of(next);
      item.span.end = current.end;
    }
    after_starter = begins;
    operand_expected = expects_operand(current);
    previous = current;
    current = next;
    doc = skimmer.doc();
  }
  return result;
}

}  // namespace tap
