// The tokens of a file as a flat list: 12 bytes each, so that a file of megabytes is cheap. ANTLR's lexer fills it
// (antlr_lex.cpp); the checks of brackets and nesting, the parser, the formatter and their messages read it.
//
//   text  y[i] = x[i]    gives    name lbracket name rbracket assign name lbracket name rbracket end
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/frontend/syntax/parse.h"
#include "support/diagnostic.h"
#include "support/source.h"

namespace tap {

enum class TokenKind : std::uint8_t {
  end,
#define TAP_TOKEN(name, grammar, shown) name,
#include "compiler/frontend/syntax/tokens.def"
#undef TAP_TOKEN
};

struct Token {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  TokenKind kind = TokenKind::end;
  bool first_on_line = false;
};

enum class CommentKind : std::uint8_t { doc, line, block };
struct Comment {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  CommentKind kind = CommentKind::line;
};

struct TokenList {
  FileId file;
  std::string_view text;               // of the whole file
  std::vector<Token> tokens;           // the last one is `end`
  std::vector<std::uint32_t> partner;  // for a bracket, the token index of the other one; else none
  std::vector<Comment> comments;       // in order
  std::vector<std::uint32_t> faults;   // locations of invalid text: the tokens at or after it

  static constexpr std::uint32_t none = 0xffffffffu;

  std::string_view text_of(const Token& t) const { return text.substr(t.begin, t.end - t.begin); }
  std::string_view text_of(std::size_t i) const { return text_of(tokens[i]); }
  TokenKind kind(std::size_t i) const { return i < tokens.size() ? tokens[i].kind : TokenKind::end; }
  Span span(std::size_t i) const { return {file, tokens[i].begin, tokens[i].end}; }
};

// How a message names a kind of token: `then`, a name.
std::string_view shown(TokenKind kind);

// The first words of declarations: use, dim, mesh, …
extern const std::array<std::string_view, 8> declaration_words;
bool is_declaration_word(std::string_view text);

// Whether an expression, or a name in a list, may end with this token. Two such tokens are never adjacent within a
// statement.
bool ends_operand(TokenKind kind);
// Whether an expression may start with it.
bool starts_operand(TokenKind kind);

inline bool opens(TokenKind k) {
  return k == TokenKind::lparen || k == TokenKind::lbracket || k == TokenKind::lbrace || k == TokenKind::lp_state ||
         k == TokenKind::lp_left;
}
inline bool closes(TokenKind k) { return k == TokenKind::rparen || k == TokenKind::rbracket || k == TokenKind::rbrace; }

// The bytes of a part: size, UTF-8, NUL, characters that change the reading direction. False if something was reported.
bool check_bytes(const SourceMap& sources, Span part, const ParseLimits& limits, Diagnostics& diagnostics);

// Splits a part whose bytes were checked. Reports malformed numbers, stray characters and unclosed strings or comments.
// A malformed number or string stays in the list as one token; everything else is dropped.
void lex(const SourceMap& sources, Span part, TokenList& list, Diagnostics& diagnostics);

// Pairs brackets and limits their nesting.
bool check_brackets(TokenList& list, const ParseLimits& limits, Diagnostics& diagnostics);

// Gives tokens the kinds that depend on their neighbours (see Tap.g4).
void retype(TokenList& list);

// All of these in turn: the tokens of a part, ready for the parser. Nothing if a byte or a bracket is wrong; with
// `faults`, which were reported, if only tokens are.
std::optional<TokenList> tokenize(const SourceMap& sources, Span part, const ParseLimits& limits,
                                  Diagnostics& diagnostics);

// The whole of a file, without a byte order mark.
Span whole_file(const SourceMap& sources, FileId file);

}  // namespace tap
