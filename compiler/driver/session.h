// The state that every subcommand uses: the sources read so far, how messages are shown, and checked output.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"
#include "support/diagnostic_render.h"
#include "support/exit_code.h"

namespace tap::driver {

struct PlanFile;  // read_plan.h

struct Session {
  SourceMap sources;
  std::shared_ptr<const PlanFile> plan;  // the last one that was read, with the locations of its lines
  // Source locations of the program's operations, by their names in plans and messages.
  std::map<std::string, Span, std::less<>> operations;
  std::map<std::string, Span, std::less<>> inputs;  // the locations of their declarations
  MessageFormat message_format = MessageFormat::human;
  bool colour = false;         // for messages on standard error
  bool output_colour = false;  // for pictures on standard output
  // Another process of the job probably reports the same: what this one would report is withheld.
  bool quiet = false;
  std::string reporter;                // "process 2 of the job: ", before each message, where several processes report
  std::vector<std::string> arguments;  // of the command line, for reproducers

  // Writes all of it to standard output, or throws a Failure with exit code 4.
  void print(std::string_view text) const;
  // Writes to standard error. If that fails, nothing is left to report it.
  void report(const Diagnostic& diagnostic) const;
  // Warnings only once, of a file that the command compiles several times.
  void report(const Diagnostics& diagnostics) const;
  void report(std::string_view text) const;
  // Records a written file. When the command ends, successful or not, one line reports all of them.
  // The file is in place, so running out of memory here changes nothing and needs no report.
  void wrote(const std::string& path) const try { written_.push_back(path); } catch (const std::bad_alloc&) {
  }
  void report_interruption(const std::string& what) const;  // by a signal, of work that hands back what it has
  void report_written_files() const;
  // What was withheld, if no other process has reported it.
  void report_withheld() const;

 private:
  void write(std::string_view message) const;
  mutable std::string withheld_;
  mutable std::set<std::string> warned_;
  mutable std::vector<std::string> written_;
};

// Thrown when everything is already reported; only the exit code remains.
struct Reported {
  int exit_code;
  std::optional<Code> code;  // of the first error
};

enum class ColourChoice : std::uint8_t { automatic, always, never };
// `automatic`: colour on a terminal, unless NO_COLOR is set or TERM is dumb.
bool use_colour(ColourChoice choice, int file_descriptor);

}  // namespace tap::driver
