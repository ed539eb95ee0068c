// Diagnostics: messages for the user. A Diagnostic is a plain value; diagnostic_render.h shows it (text with carets,
// or one JSON object per line). Codes are listed in codes.def and never change their meaning.
//
//   diagnostics.report(Diagnostic(Code::unknown_name, span, "`reul` is not defined")
//                          .label(declared_at, "`relu` is declared here")
//                          .help("did you mean `relu`?").fix(span, "relu"));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "support/source.h"

namespace tap {

enum class Severity : std::uint8_t { error, warning, remark };
std::string_view severity_name(Severity severity);

enum class Code : std::uint16_t {
#define TAP_CODE(name, id, severity, title) name,
#include "support/codes.def"
#undef TAP_CODE
};

struct CodeInfo {
  std::string_view name;  // unknown_name
  std::string_view id;    // T0201
  Severity severity;
  std::string_view title;  // one line for lists
};
const CodeInfo& info(Code code);
const std::vector<Code>& all_codes();

struct Label {
  Span span;
  std::string text;
  bool operator==(const Label&) const = default;
};

struct Fix {  // replacing `span` by `replacement` makes the program compile
  Span span;
  std::string replacement;
  bool operator==(const Fix&) const = default;
};

struct Diagnostic {
  Code code;
  Span span;                  // invalid if there is no source (command line, data files)
  std::string message;        // one sentence in the user's words, with numbers
  std::string caret;          // short text next to the caret; may be empty
  std::vector<Label> labels;  // secondary locations: where the expectation comes from
  std::vector<std::string> notes;
  std::string help_text;
  std::vector<Fix> fixes;

  Diagnostic(Code c, Span s, std::string m) : code(c), span(s), message(std::move(m)) {}
  Diagnostic& at_caret(std::string t) & {
    caret = std::move(t);
    return *this;
  }
  Diagnostic& label(Span s, std::string t) & {
    labels.push_back({s, std::move(t)});
    return *this;
  }
  Diagnostic& note(std::string t) & {
    notes.push_back(std::move(t));
    return *this;
  }
  Diagnostic& help(std::string t) & {
    help_text = std::move(t);
    return *this;
  }
  Diagnostic& fix(Span s, std::string t) & {
    fixes.push_back({s, std::move(t)});
    return *this;
  }
  Diagnostic&& at_caret(std::string t) && {
    at_caret(std::move(t));
    return std::move(*this);
  }
  Diagnostic&& label(Span s, std::string t) && {
    label(s, std::move(t));
    return std::move(*this);
  }
  Diagnostic&& note(std::string t) && {
    note(std::move(t));
    return std::move(*this);
  }
  Diagnostic&& help(std::string t) && {
    help(std::move(t));
    return std::move(*this);
  }
  Diagnostic&& fix(Span s, std::string t) && {
    fix(s, std::move(t));
    return std::move(*this);
  }

  Severity severity() const { return info(code).severity; }
  bool operator==(const Diagnostic&) const = default;
};

// Collects diagnostics in order: the first `max_shown` errors and as many warnings. Further ones are only counted, and
// reported as `too many errors` or `too many warnings`. The same message at the same location is reported once.
class Diagnostics {
 public:
  static constexpr std::size_t max_shown = 20;

  void report(Diagnostic diagnostic);
  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }
  bool too_many_errors() const { return errors_ > max_shown; }
  bool too_many_warnings() const { return warnings_ > max_shown; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0, warnings_ = 0;
  std::unordered_set<std::size_t> seen_;  // hashes of code, location and message
};

// Thrown after a diagnostic was reported, if the rest of the statement cannot be analysed.
struct Abandoned {};

// A failure with a known exit code (bad data file, file system, command line), reported by one diagnostic.
struct Failure {
  int exit_code;
  Diagnostic diagnostic;
};

// The candidate nearest to `name` by edit distance, if near enough to suggest.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tap
