// The front end in one call: text → syntax tree → resolved definitions → a legal block-operation graph.
//
// The program that is asked for is specialised at its sizes, every access of every operator is proved legal, the laws of
// every monoid it uses are checked, and calls are kept as regions. All problems are diagnostics.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "support/diagnostic.h"
#include "support/tensor.h"

namespace tap {

struct CompileOptions {
  std::string program;                        // empty: the sole one
  std::map<std::string, Shape> dims;          // --dim n=8: {8}; of a pack, --dim d=2,3: {2, 3}
  std::map<std::string, Shape> input_shapes;  // shapes of the inputs that were given
  std::string_view standard_library;          // the text of `use std`
  bool require_proof = false;                 // an assumed law is an error
  bool check_only = false;                    // check every program and operator of the file, not one program
  std::size_t max_dims = 32;                  // of one index space
  class LawMemory* laws = nullptr;            // for many runs: what the former ones found out (laws_memory.h)
};

// Where things of a Program were written: kept beside it, so that programs compare without it.
struct GraphProvenance {
  std::vector<Span> values;
  std::vector<Span> operations;
};
struct Provenance {
  std::vector<GraphProvenance> graphs;  // by GraphId
};

struct Compiled {
  ir::Program program;
  bool has_program = false;  // else the file only declares operators
  std::string name;
  std::vector<std::string> results;        // names of the main graph's outputs: `Y = X` gives a value two names
  std::vector<std::string> program_names;  // all in the file
  std::vector<ir::GraphId> programs;       // those that were built: with check_only every legal one
  Provenance provenance;
};

// Empty if there were errors.
std::optional<Compiled> compile(SourceMap& sources, FileId file, const CompileOptions& options,
                                Diagnostics& diagnostics);

}  // namespace tap
