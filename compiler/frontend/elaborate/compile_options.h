// Options of one run of the front end, and the source locations that it returns.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"
#include "support/tensor.h"

namespace tap {

struct CompileOptions {
  std::string program;                        // empty: the only one
  std::map<std::string, Shape> dims;          // --dim n=8: {8}; for a pack, --dim d=2,3: {2, 3}
  std::map<std::string, Shape> input_shapes;  // shapes of the given inputs
  std::string_view standard_library;          // the text of `use std`
  bool require_proof = false;                 // an assumed law is an error
  bool check_only = false;                    // check every program and operator of the file, not one program
  std::size_t max_dims = 32;                  // of one index space
  class LawMemory* laws = nullptr;            // shared by several runs: proved laws (proofs/laws_memory.h)
};

// Source locations of a Program: stored separately, so that equal programs compare equal.
struct GraphProvenance {
  std::vector<Span> values;
  std::vector<Span> operations;
  std::vector<Span> barriers;
  std::vector<Span> splits;
  std::vector<Span> shardings;  // by value; shorter if the last ones have none
};
struct Provenance {
  std::vector<GraphProvenance> graphs;  // by GraphId
};

}  // namespace tap
