// Checks before parsing: the bytes of a source, and that brackets match and do not nest too deeply.
//
// Later stages rely on it: ANTLR recurses once or more per open bracket, so 100,000 of them would overflow the stack.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/syntax/division_comments.h"
#include "compiler/frontend/syntax/tokens.h"

namespace tap {

namespace {

// The length of the well-formed UTF-8 sequence at `at`, or 0. Overlong forms, surrogates and numbers past U+10FFFF are
// malformed.
std::size_t sequence_length(std::string_view text, std::size_t at, std::uint32_t& code) {
  auto byte = [&](std::size_t k) { return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0u; };
  auto continues = [&](std::size_t k) { return (byte(k) & 0xC0u) == 0x80u; };
  std::uint32_t first = byte(0);
  if (first < 0x80) return code = first, 1;
  if (first >= 0xC2 && first <= 0xDF && continues(1)) {
    code = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    return 2;
  }
  if (first >= 0xE0 && first <= 0xEF && continues(1) && continues(2)) {
    code = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    return code >= 0x800 && (code < 0xD800 || code > 0xDFFF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3)) {
    code = (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    return code >= 0x10000 && code <= 0x10FFFF ? 4 : 0;
  }
  return 0;
}

// Characters that change the displayed order of text, so that a reviewer sees a different program than the compiler.
bool changes_direction(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

Span bytes(FileId file, std::size_t begin, std::size_t length) {
  return {file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin + length)};
}

TokenKind closer_of(TokenKind opener) {
  if (opener == TokenKind::lbracket) return TokenKind::rbracket;
  return opener == TokenKind::lbrace ? TokenKind::rbrace : TokenKind::rparen;
}

}  // namespace

bool check_bytes(const SourceMap& sources, Span part, const ParseLimits& limits, Diagnostics& diagnostics) {
  const std::string_view text = sources.file(part.file).text();
  if (text.size() > limits.max_file_bytes) {
    diagnostics.report(
        Diagnostic(Code::file_too_large, bytes(part.file, 0, 0),
                   fmt::format("the file has {} bytes; the limit is {}", text.size(), limits.max_file_bytes)));
    return false;
  }
  bool good = true;
  for (std::size_t at = part.begin; at < part.end;) {
    unsigned char first = static_cast<unsigned char>(text[at]);
    if (first != 0 && first < 0x80) {
      ++at;
      continue;
    }
    std::uint32_t code = 0;
    std::size_t length = sequence_length(text, at, code);
    if (first == 0 || length == 0) {
      std::string what = first == 0 ? "a source file must not contain NUL bytes" : "the source is not valid UTF-8";
      diagnostics.report(Diagnostic(Code::bad_byte, bytes(part.file, at, 1),
                                    fmt::format("byte 0x{:02x} at offset {}: {}", first, at, what)));
      return false;
    }
    if (changes_direction(code)) {
      diagnostics.report(
          Diagnostic(
              Code::reading_direction, bytes(part.file, at, length),
              fmt::format("the character U+{:04X} at offset {} changes the reading direction of the text around it, "
                          "which can hide what a program does",
                          code, at))
              .help("remove the character")
              .fix(bytes(part.file, at, length), ""));
      good = false;
    }
    at += length;
  }
  return good;
}

bool check_brackets(TokenList& list, const ParseLimits& limits, Diagnostics& diagnostics) {
  list.partner.assign(list.tokens.size(), TokenList::none);
  std::vector<std::uint32_t> open;
  bool good = true;
  auto never_closed = [&](std::uint32_t opener, std::size_t found) {
    Diagnostic d(Code::unterminated, list.span(opener), fmt::format("this {} is not closed", shown(list.kind(opener))));
    std::string_view expected = shown(closer_of(list.kind(opener)));
    d.at_caret(fmt::format("needs a {}", expected));
    if (list.kind(found) == TokenKind::end) {
      d.note(fmt::format("the file ends without its {}", expected));
    } else {
      d.label(list.span(found), fmt::format("found this {} where {} was expected", shown(list.kind(found)), expected));
    }
    if (const Comment* comment = comment_like_division(list, opener, expected[1])) {
      d.label({list.file, comment->begin, comment->end}, fmt::format("this comment contains a {}", expected));
      offer_division(list, *comment, d);
    }
    diagnostics.report(std::move(d));
    good = false;
  };
  for (std::uint32_t i = 0; i < list.tokens.size(); ++i) {
    TokenKind kind = list.kind(i);
    if (opens(kind)) {
      open.push_back(i);
      if (open.size() > limits.max_nesting) {
        diagnostics.report(Diagnostic(Code::nesting_too_deep, list.span(i),
                                      fmt::format("brackets are nested more than {} deep", limits.max_nesting)));
        return false;
      }
    } else if (closes(kind)) {
      std::size_t match = open.size();
      while (match > 0 && closer_of(list.kind(open[match - 1])) != kind) --match;
      if (match == 0) {
        diagnostics.report(
            Diagnostic(Code::syntax, list.span(i), fmt::format("this {} has no opening bracket", shown(kind))));
        good = false;
        continue;
      }
      for (; open.size() > match; open.pop_back()) never_closed(open.back(), i);
      list.partner[i] = open.back();
      list.partner[open.back()] = i;
      open.pop_back();
    }
  }
  for (; !open.empty(); open.pop_back()) never_closed(open.back(), list.tokens.size() - 1);
  return good;
}

}  // namespace tap
