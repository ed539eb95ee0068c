// Properties of token kinds.
#include "compiler/frontend/syntax/tokens.h"

#include <algorithm>

namespace tap {

namespace {
constexpr std::string_view shown_kinds[] = {
    "the end of the file",
#define TAP_TOKEN(name, grammar, shown) shown,
#include "compiler/frontend/syntax/tokens.def"
#undef TAP_TOKEN
};
}  // namespace

std::string_view shown(TokenKind kind) { return shown_kinds[static_cast<std::size_t>(kind)]; }

const std::array<std::string_view, 8> declaration_words = {"use", "dim",    "mesh",    "monoid",
                                                           "op",  "extern", "rewrite", "program"};

bool is_declaration_word(std::string_view text) {
  return std::find(declaration_words.begin(), declaration_words.end(), text) != declaration_words.end();
}

namespace {

bool is_literal(TokenKind kind) {
  switch (kind) {
    case TokenKind::integer:
    case TokenKind::float_:
    case TokenKind::string:
    case TokenKind::true_:
    case TokenKind::false_:
    case TokenKind::inf:
    case TokenKind::nan: return true;
    default: return false;
  }
}

}  // namespace

bool ends_operand(TokenKind kind) {
  switch (kind) {
    case TokenKind::name:
    case TokenKind::rparen:
    case TokenKind::rbracket:
    case TokenKind::rbrace:
    case TokenKind::pack: return true;
    default: return is_literal(kind);
  }
}

bool starts_operand(TokenKind kind) {
  switch (kind) {
    case TokenKind::name:
    case TokenKind::reduction:
    case TokenKind::user_reduction:
    case TokenKind::iterate:
    case TokenKind::if_:
    case TokenKind::let:
    case TokenKind::not_:
    case TokenKind::minus:
    case TokenKind::lparen:
    case TokenKind::lp_left: return true;
    default: return is_literal(kind);
  }
}

Span whole_file(const SourceMap& sources, FileId file) {
  const std::string& text = sources.file(file).text();
  std::uint32_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  return {file, begin, static_cast<std::uint32_t>(text.size())};
}

std::optional<TokenList> tokenize(const SourceMap& sources, Span part, const ParseLimits& limits,
                                  Diagnostics& diagnostics) {
  TokenList list;
  if (!check_bytes(sources, part, limits, diagnostics)) return std::nullopt;
  lex(sources, part, list, diagnostics);
  if (!check_brackets(list, limits, diagnostics)) return std::nullopt;
  retype(list);
  return list;
}

}  // namespace tap
