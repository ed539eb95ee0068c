// The text format:
//
//   a.tap:3:9: error[T0203]: `reul` is not defined
//     |
//   3 |     H = reul(x)
//     |         ^^^^ not defined
//   1 | op relu(x: T[d..]) …
//     |    ---- `relu` is declared here
//   help: did you mean `relu`?
//     |
//   3 |     H = relu(x)
//     |         ~~~~
#include "support/diagnostic_render.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/diagnostic_json.h"
#include "support/source_excerpt.h"

namespace tap {
namespace {

constexpr std::size_t max_fixed_lines = 6;

enum class Paint { none, bold, red, yellow, blue, green };

std::string_view escape_of(Paint paint) {
  switch (paint) {
    case Paint::none: return "";
    case Paint::bold: return "\x1b[1m";
    case Paint::red: return "\x1b[1;31m";
    case Paint::yellow: return "\x1b[1;33m";
    case Paint::blue: return "\x1b[1;34m";
    case Paint::green: return "\x1b[1;32m";
  }
  return "";
}

struct SeverityLook {
  std::string_view word;
  Paint paint;
};
SeverityLook look_of(Severity severity) {
  switch (severity) {
    case Severity::error: return {"error", Paint::red};
    case Severity::warning: return {"warning", Paint::yellow};
    case Severity::remark: return {"remark", Paint::blue};
  }
  return {};
}

class HumanWriter {
 public:
  HumanWriter(const SourceMap& sources, bool colour) : sources_(sources), colour_(colour) {}

  std::string write(const Diagnostic& d) {
    choose_gutter(d);
    SeverityLook look = look_of(d.severity());
    out_ += painted(Paint::bold, d.span.valid() ? location(d.span) : "tapc:");
    out_ += ' ';
    out_ += painted(look.paint, fmt::format("{}[{}]:", look.word, info(d.code).id));
    out_ += ' ' + painted(Paint::bold, printable(d.message)) + '\n';
    if (d.span.valid()) {
      out_ += gutter("");
      show(d.span, '^', look.paint, d.caret);
    }
    for (const Label& label : d.labels)
      if (label.span.valid()) show(label.span, '-', Paint::blue, label.text);
    for (const std::string& note : d.notes) remark("note", Paint::bold, note);
    if (!d.help_text.empty()) remark("help", Paint::green, d.help_text);
    show_fixes(d);
    return std::move(out_);
  }

 private:
  std::string painted(Paint paint, std::string text) const {
    if (!colour_ || text.empty()) return text;
    return std::string(escape_of(paint)) + text + "\x1b[0m";
  }

  std::string location(Span span) const {
    const SourceFile& file = sources_.file(span.file);
    Position at = file.position(span.begin);
    return fmt::format("{}:{}:{}:", printable(file.path()), at.line, at.column);
  }

  std::uint32_t line_of(Span span) const { return sources_.file(span.file).position(span.begin).line; }

  void choose_gutter(const Diagnostic& d) {
    std::uint32_t greatest = d.span.valid() ? line_of(d.span) : 1;
    for (const Label& label : d.labels)
      if (label.span.valid()) greatest = std::max(greatest, line_of(label.span));
    for (const Fix& fix : d.fixes)
      if (fix.span.valid()) greatest = std::max(greatest, line_of(fix.span));
    gutter_width_ = std::to_string(greatest).size();
  }

  std::string gutter(std::string_view number) const {
    std::string bar = painted(Paint::blue, fmt::format("{:>{}} |", number, gutter_width_));
    return number.empty() ? bar + '\n' : bar;
  }
  std::string marker_gutter() const { return painted(Paint::blue, fmt::format("{:>{}} |", "", gutter_width_)); }

  // The source line, unless it was the last one shown, and a row of marks below it.
  void show(Span span, char mark, Paint paint, const std::string& text) {
    const SourceFile& file = sources_.file(span.file);
    std::uint32_t number = line_of(span);
    std::string_view line = file.line(number);
    std::size_t start = file.line_start(number);
    Excerpt seen = excerpt(line, span.begin - start, std::max(span.end, span.begin) - start);
    if (shown_file_ != span.file && shown_file_.valid())
      out_ += fmt::format("{:>{}} --> {}\n", "", gutter_width_, location(span));
    if (shown_file_ != span.file || shown_line_ != number || seen.text != shown_text_)
      out_ += gutter(std::to_string(number)) + (seen.text.empty() ? "" : " " + seen.text) + '\n';
    shown_file_ = span.file;
    shown_line_ = number;
    shown_text_ = seen.text;
    std::string marks(seen.width, mark);
    if (!text.empty()) marks += ' ' + printable(text);
    out_ += marker_gutter() + ' ' + std::string(seen.first, ' ') + painted(paint, marks) + '\n';
  }

  void remark(std::string_view word, Paint paint, std::string_view text) {
    out_ += painted(paint, fmt::format("{}:", word));
    for (bool first = true; !text.empty() || first; first = false) {
      auto end = std::min(text.find('\n'), text.size());
      out_ += (first ? " " : std::string(word.size() + 2, ' ')) + printable(text.substr(0, end)) + '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // The lines that the fixes change, as they would be afterwards.
  void show_fixes(const Diagnostic& d) {
    std::vector<Fix> fixes;
    for (const Fix& fix : d.fixes)
      if (fix.span.valid()) fixes.push_back(fix);
    std::stable_sort(fixes.begin(), fixes.end(), [](const Fix& a, const Fix& b) {
      return a.span.file != b.span.file ? a.span.file < b.span.file : a.span.begin < b.span.begin;
    });
    if (fixes.empty()) return;
    if (d.help_text.empty()) remark("help", Paint::green, "write");
    out_ += gutter("");
    for (std::size_t i = 0; i < fixes.size();) i = show_fixed_lines(fixes, i);
  }

  // Shows the fixes from `first` on that begin on one line; returns the number of the next fix.
  std::size_t show_fixed_lines(const std::vector<Fix>& fixes, std::size_t first) {
    const SourceFile& file = sources_.file(fixes[first].span.file);
    std::uint32_t number = line_of(fixes[first].span);
    std::size_t begin = file.line_start(number), at = begin;
    std::string fixed, marked_line;
    std::size_t mark_begin = 0, mark_end = 0, next = first;
    for (; next < fixes.size() && fixes[next].span.file == fixes[first].span.file; ++next) {
      const Fix& fix = fixes[next];
      if (next > first && (fix.span.begin < at || line_of(fix.span) != number)) break;
      fixed += file.text().substr(at, fix.span.begin - at);
      if (next == first) mark_begin = fixed.size();
      fixed += fix.replacement;
      mark_end = fixed.size();
      at = std::max(fix.span.begin, fix.span.end);
    }
    std::uint32_t last = file.position(static_cast<std::uint32_t>(at)).line;
    std::size_t line_end = file.line_start(last) + file.line(last).size();
    if (at < line_end) fixed += file.text().substr(at, line_end - at);
    write_fixed_lines(fixed, number, mark_begin, mark_end);
    return next;
  }

  void write_fixed_lines(std::string_view fixed, std::uint32_t number, std::size_t mark_begin, std::size_t mark_end) {
    std::size_t begin = 0;
    for (std::size_t shown = 0; shown < max_fixed_lines && begin <= fixed.size(); ++shown, ++number) {
      std::size_t end = std::min(fixed.find('\n', begin), fixed.size());
      std::string_view line = fixed.substr(begin, end - begin);
      bool marked = mark_begin <= end && mark_end > begin && mark_end > mark_begin;
      std::size_t from = std::max(mark_begin, begin) - begin, to = std::min(mark_end, end) - begin;
      Excerpt seen = excerpt(line, marked ? from : 0, marked ? to : 0);
      out_ += gutter(std::to_string(number)) + (seen.text.empty() ? "" : " " + seen.text) + '\n';
      if (marked && to > from)
        out_ += marker_gutter() + ' ' + std::string(seen.first, ' ') +
                painted(Paint::green, std::string(seen.width, '~')) + '\n';
      begin = end + 1;
    }
  }

  const SourceMap& sources_;
  bool colour_;
  std::string out_;
  std::size_t gutter_width_ = 1;
  FileId shown_file_;
  std::uint32_t shown_line_ = 0;
  std::string shown_text_;
};

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, MessageFormat format, bool colour) {
  if (format == MessageFormat::json) return json_line(diagnostic, sources);
  return HumanWriter(sources, colour).write(diagnostic);
}

std::string render(const Diagnostics& diagnostics, const SourceMap& sources, MessageFormat format, bool colour) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) out += render(diagnostic, sources, format, colour);
  for (auto [overflowed, severity] : {std::pair(diagnostics.too_many_warnings(), Severity::warning),
                                      std::pair(diagnostics.too_many_errors(), Severity::error)}) {
    if (!overflowed) continue;
    std::string line =
        fmt::format("too many {}s: the first {} are shown", severity_name(severity), Diagnostics::max_shown);
    out += format == MessageFormat::json ? json_line(severity, line) : line + "\n";
  }
  return out;
}

}  // namespace tap
