#include "compiler/pipeline/line_span.h"

#include <algorithm>

#include "ir/text_names.h"

namespace tap::pipeline {

Span error_span(const SourceFile& source, FileId file, const ir::TextError& error) {
  const std::string& text = source.text();
  std::size_t begin = 0;
  for (std::size_t line = 1; line < error.line; ++line) {
    std::size_t end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
  const std::size_t line_end = std::min(text.find('\n', begin), text.size());
  std::size_t at = std::min(begin + error.column, line_end), end = at;
  auto is_word = [&](std::size_t k) {
    return ir::is_identifier(std::string_view(text).substr(k, 1)) || (text[k] >= '0' && text[k] <= '9');
  };
  while (end < line_end && is_word(end)) ++end;
  if (end == at && at < line_end && static_cast<unsigned char>(text[at]) < 0x80) ++end;
  return {file, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)};
}

}  // namespace tap::pipeline
