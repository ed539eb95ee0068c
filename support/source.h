// Source files and positions in them. A Span is a byte range of one file; lines and columns are computed only when a
// message is printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/ids.h"

namespace tap {

using FileId = Id<struct FileTag>;

struct Span {
  FileId file;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;  // one past the last byte

  bool valid() const { return file.valid(); }
  bool operator==(const Span&) const = default;
};

// From the start of a to the end of b, in the same file.
inline Span join(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

struct Position {
  std::uint32_t line = 1;    // from 1
  std::uint32_t column = 1;  // from 1, in code points; a byte order mark is not counted
};

class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }  // as the user gave it
  const std::string& text() const { return text_; }
  Position position(std::uint32_t offset) const;
  std::string_view line(std::uint32_t number) const;  // from 1, without its line end
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(starts_.size()); }
  std::uint32_t line_start(std::uint32_t number) const { return starts_[number - 1]; }

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> starts_;  // LF, CRLF and a lone CR each end a line
};

class SourceMap {
 public:
  FileId add(std::string path, std::string text);
  const SourceFile& file(FileId id) const { return files_[id.index()]; }
  std::string_view text(Span span) const;
  std::size_t size() const { return files_.size(); }

 private:
  std::vector<SourceFile> files_;
};

}  // namespace tap
