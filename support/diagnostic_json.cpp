#include "support/diagnostic_json.h"

#include <fmt/format.h>

#include "support/source_excerpt.h"

namespace tap {
namespace {

// "file":…,"line":…,"column":…,"end_line":…,"end_column":…
std::string location(Span span, const SourceMap& sources) {
  if (!span.valid()) return R"("file":null,"line":null,"column":null,"end_line":null,"end_column":null)";
  const SourceFile& file = sources.file(span.file);
  Position from = file.position(span.begin), to = file.position(span.end);
  return fmt::format(R"("file":{},"line":{},"column":{},"end_line":{},"end_column":{})", json_quoted(file.path()),
                     from.line, from.column, to.line, to.column);
}

template <class List, class Show>
std::string array(const List& list, Show show) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ',';
    out += show(item);
  }
  return out + "]";
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    auto [value, bytes] = decode_utf8(text, at);
    if (value == '"' || value == '\\') (out += '\\') += static_cast<char>(value);
    else if (value < 0x20 || value == 0x7f) out += fmt::format("\\u{:04x}", static_cast<unsigned>(value));
    else if (value == 0xFFFD) out += "\\ufffd";
    else out += text.substr(at, bytes);
    at += bytes;
  }
  return out + "\"";
}

std::string json_line(const Diagnostic& d, const SourceMap& sources) {
  std::string labels = array(d.labels, [&](const Label& l) {
    return fmt::format(R"({{{},"text":{}}})", location(l.span, sources), json_quoted(l.text));
  });
  std::string fixes = array(d.fixes, [&](const Fix& f) {
    return fmt::format(R"({{{},"begin":{},"end":{},"replacement":{}}})", location(f.span, sources), f.span.begin,
                       f.span.end, json_quoted(f.replacement));
  });
  std::string notes = array(d.notes, [](const std::string& n) { return json_quoted(n); });
  return fmt::format(
      R"({{{},"severity":"{}","code":"{}","message":{},"caret":{},"labels":{},"notes":{},"help":{},"fixes":{}}})"
      "\n",
      location(d.span, sources), severity_name(d.severity()), info(d.code).id, json_quoted(d.message),
      json_quoted(d.caret), labels, notes, json_quoted(d.help_text), fixes);
}

std::string json_line(Severity severity, std::string_view message) {
  return fmt::format(R"_({{{},"severity":"{}","code":null,"message":{},"caret":"",)_"
                     R"_("labels":[],"notes":[],"help":"","fixes":[]}})_"
                     "\n",
                     location(Span{}, SourceMap{}), severity_name(severity), json_quoted(message));
}

}  // namespace tap
