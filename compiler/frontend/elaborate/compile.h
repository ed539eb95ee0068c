// The front end: text → syntax trees with their definitions by name → a legal block-operation graph.
//
// The selected program is specialised for its sizes, every access of every operator is proved legal, the laws of
// every monoid that it uses are checked, and calls are kept as regions. All problems are diagnostics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/elaborate/compile_options.h"
#include "ir/graph.h"
#include "support/diagnostic.h"

namespace tap {

struct Compiled {
  ir::Program program;
  bool has_program = false;  // else the file only declares operators
  std::string name;
  std::vector<std::string> results;        // names of the main graph's outputs; `Y = X` gives a value two names
  std::vector<std::string> program_names;  // all in the file
  std::vector<ir::GraphId> programs;       // those that were built; with check_only, every legal one
  Provenance provenance;
};

// The syntax trees of a file and of the modules that it uses, and what they declare.
class ParsedFile {
 public:
  struct State;
  explicit ParsedFile(std::unique_ptr<State> state);
  ParsedFile(ParsedFile&&) noexcept;
  ParsedFile& operator=(ParsedFile&&) noexcept;
  ~ParsedFile();

  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Empty if the file cannot be parsed at all. `sources` and `diagnostics` must outlive the result, which refers to them.
std::optional<ParsedFile> parse_file(SourceMap& sources, FileId file, const CompileOptions& options,
                                     Diagnostics& diagnostics);

// Builds the graph: resolves names, infers sizes, proves every access legal and decides every law. Empty if there were
// errors.
std::optional<Compiled> build(ParsedFile parsed);

// Both.
std::optional<Compiled> compile(SourceMap& sources, FileId file, const CompileOptions& options,
                                Diagnostics& diagnostics);

}  // namespace tap
