// Shared by the tests of the text front end: parsing a string, and what was reported.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/frontend/syntax/parse.h"
#include "support/diagnostic_render.h"

namespace tap::testing {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Every .tap file of tests/frontend/data, in a fixed order.
inline std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TAP_SOURCE_DIR "/tests/frontend/data"))
    if (entry.path().extension() == ".tap") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Parsed {
  SourceMap sources;
  FileId file;
  Diagnostics diagnostics;
  std::optional<ast::Module> module;

  explicit Parsed(std::string text, ParseLimits limits = {}) {
    file = sources.add("test.tap", std::move(text));
    module = parse(sources, file, limits, diagnostics);
  }
  std::string messages() const { return render(diagnostics, sources, MessageFormat::human, false); }
  const ast::Declaration& decl(std::size_t i) const { return module->declarations.at(i); }
  std::string text(Span span) const { return std::string(sources.text(span)); }
};

}  // namespace tap::testing
