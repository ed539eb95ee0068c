#include "compiler/driver/session.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <unistd.h>
#include <nlohmann/json.hpp>

#include "compiler/driver/show/written_operations.h"
#include "support/quoted.h"
#include "support/write_all.h"

namespace tap::driver {
namespace {

// Messages of passes and commands about a program's values, which they know only by name.
bool is_about_the_program(Code code) {
  switch (code) {
    case Code::pass_declined:
    case Code::implicit_move:
    case Code::implicit_reshard:
    case Code::axis_used_twice:
    case Code::plan_not_applicable:
    case Code::data_missing: return true;
    default: return false;
  }
}

// The location of the first operation or input that the message names in backquotes; invalid if there is none.
Span place_of(const Session& session, std::string_view message) {
  for (std::size_t open = message.find('`'); open != message.npos;) {
    const std::size_t close = message.find('`', open + 1);
    if (close == message.npos) break;
    const std::string_view name = message.substr(open + 1, close - open - 1);
    if (auto input = session.inputs.find(name); input != session.inputs.end()) return input->second;
    if (Span span = written_at(session.operations, name); span.valid()) return span;
    open = message.find('`', close + 1);
  }
  return {};
}

// "computing `Y` requires an implicit reshard of `Z` to …" is about Z.
std::string_view from_the_subject(std::string_view message) {
  const std::size_t at = message.find("implicit reshard of ");
  return at == message.npos ? message : message.substr(at);
}

// "computing `Y` requires an implicit reshard of `Z`": also shows the operation that computes Y.
void show_operation(const Session& session, Diagnostic& shown) {
  if (shown.code != Code::implicit_move && shown.code != Code::implicit_reshard) return;
  constexpr std::string_view computing = "computing `";
  if (!shown.message.starts_with(computing)) return;
  const std::size_t end = shown.message.find('`', computing.size());
  const std::string name = shown.message.substr(computing.size(), end - computing.size());
  const Span span = called_at(session.operations, name);
  if (span.valid() && span != shown.span) shown.label(span, "`" + name + "` is computed here");
}

std::string said_by_process(const Session& session, std::string_view message) {
  const bool plain = session.message_format == MessageFormat::json;  // a line of JSON stays one
  return (plain ? "" : session.reporter) + std::string(message);
}

}  // namespace

void Session::print(std::string_view text) const {
  if (int error = write_all(STDOUT_FILENO, text))
    throw Failure{exit_code::resource,
                  Diagnostic(Code::cannot_write, Span{},
                             std::string("standard output cannot be written: ") + std::strerror(error))};
}

void Session::write(std::string_view message) const {
  if (message.empty()) return;
  if (quiet) {
    withheld_ += said_by_process(*this, message);
  } else if (reporter.empty()) {
    write_all(STDERR_FILENO, message);
  } else {
    write_all(STDERR_FILENO, said_by_process(*this, message));  // at once: other processes write, too
  }
}

void Session::report_withheld() const { write_all(STDERR_FILENO, withheld_); }

void Session::report(const Diagnostic& diagnostic) const {
  Diagnostic shown = diagnostic;
  if (!shown.span.valid() && is_about_the_program(shown.code))
    shown.span = place_of(*this, from_the_subject(shown.message));
  show_operation(*this, shown);
  write(render(shown, sources, message_format, colour));
}

void Session::report(const Diagnostics& diagnostics) const {
  const std::string text = render(diagnostics, sources, message_format, colour);
  if (diagnostics.has_errors() || warned_.insert(text).second) write(text);
}

void Session::report(std::string_view text) const { write(text); }

// The files are in place, so running out of memory here changes nothing and needs no report.
void Session::report_interruption(const std::string& what) const {
  report(message_format == MessageFormat::json ? nlohmann::json{{"interrupted", what}}.dump() + "\n"
                                               : "tapc: " + what + "\n");
}

void Session::report_written_files() const try {
  if (written_.empty()) return;
  constexpr std::size_t most = 8;
  if (message_format == MessageFormat::json) {
    nlohmann::json line;
    for (const std::string& path : written_) line["wrote"].push_back(path);
    report(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    return;
  }
  std::string text = "wrote ";
  const std::size_t shown = written_.size() > most ? most - 1 : written_.size();
  for (std::size_t k = 0; k < shown; ++k) text += (k == 0 ? "" : ", ") + tap::quoted(written_[k]);
  if (shown < written_.size()) text += " and " + std::to_string(written_.size() - shown) + " more";
  report(text + "\n");
} catch (const std::bad_alloc&) {}

bool use_colour(ColourChoice choice, int file_descriptor) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (no_color && *no_color) return false;
  if (!terminal || std::string_view(terminal) == "dumb") return false;
  return ::isatty(file_descriptor) == 1;
}

}  // namespace tap::driver
