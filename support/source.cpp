#include "support/source.h"

#include <algorithm>

namespace tap {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  starts_.push_back(text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    bool crlf = text_[i] == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n';
    if (crlf) ++i;
    if (text_[i] == '\n' || text_[i] == '\r') starts_.push_back(static_cast<std::uint32_t>(i + 1));
  }
}

Position SourceFile::position(std::uint32_t offset) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  if (after == starts_.begin()) return {1, 1};
  auto line = static_cast<std::uint32_t>(after - starts_.begin());
  std::uint32_t column = 1;
  for (std::size_t i = starts_[line - 1]; i < offset && i < text_.size(); ++i) column += !is_continuation(text_[i]);
  return {line, column};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  std::size_t begin = starts_[number - 1];
  std::size_t end = number < starts_.size() ? starts_[number] : text_.size();
  while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r')) --end;
  return std::string_view(text_).substr(begin, end - begin);
}

FileId SourceMap::add(std::string path, std::string text) {
  files_.emplace_back(std::move(path), std::move(text));
  return FileId(files_.size() - 1);
}

std::string_view SourceMap::text(Span span) const {
  return std::string_view(file(span.file).text()).substr(span.begin, span.end - span.begin);
}

}  // namespace tap
