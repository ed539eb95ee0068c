// The text front end on any bytes: parsing ends with a tree or with diagnostics; a tree prints, parses again and is the
// same; formatting changes no tree and is done after once.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/frontend/syntax/format.h"
#include "compiler/frontend/syntax/print_ast.h"
#include "support/diagnostic_render.h"

namespace {

using namespace tap;

[[noreturn]] void stop(const char* what, const std::string& before, const std::string& after) {
  std::fprintf(stderr, "%s\n--- before\n%s\n--- after\n%s\n", what, before.c_str(), after.c_str());
  std::abort();
}

std::optional<ast::Module> parse_text(const std::string& text, std::string* messages = nullptr) {
  SourceMap sources;
  FileId file = sources.add("fuzz.tap", text);
  Diagnostics diagnostics;
  auto module = parse(sources, file, {}, diagnostics);
  std::string shown = render(diagnostics, sources, MessageFormat::human, false);
  if (!module && !diagnostics.has_errors()) stop("refused without an error", text, shown);
  if (messages) *messages = shown;
  return module;
}

std::string format_text(const std::string& text) {
  SourceMap sources;
  FileId file = sources.add("fuzz.tap", text);
  Diagnostics diagnostics;
  auto formatted = format_source(sources, file, {}, diagnostics);
  if (!formatted) stop("fmt refuses what parses", text, render(diagnostics, sources, MessageFormat::human, false));
  return *formatted;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  {
    SourceMap sources;
    outline(sources, sources.add("fuzz.tap", text));
  }
  auto module = parse_text(text);
  if (!module) return 0;
  std::string tree = structure(*module);
  std::string printed = print(*module);
  std::string messages;
  auto again = parse_text(printed, &messages);
  if (!again) stop("what was printed does not parse", text, printed + messages);
  if (structure(*again) != tree) stop("printing changed the tree", tree + printed, structure(*again));
  std::string formatted = format_text(text);
  auto module_of_formatted = parse_text(formatted, &messages);
  if (!module_of_formatted) stop("what fmt wrote does not parse", text, formatted + messages);
  if (structure(*module_of_formatted) != tree) stop("fmt changed the tree", text, formatted);
  if (format_text(formatted) != formatted) stop("fmt is not done after once", formatted, format_text(formatted));
  return 0;
}
