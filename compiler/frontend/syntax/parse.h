// From text to syntax tree. Only the antlr_*.cpp files depend on ANTLR.
//
// Pre: `file` is in `sources`. Bytes are validated (UTF-8, NUL, bidi controls, nesting depth, literal ranges) before or
// while parsing; every problem is a diagnostic of ours. Returns nothing if there was an error.
#pragma once

#include <optional>

#include "compiler/frontend/syntax/ast.h"
#include "support/diagnostic.h"

namespace tap {

struct ParseLimits {
  std::size_t max_nesting = 256;
  std::size_t max_file_bytes = 256u << 20;
};

std::optional<ast::Module> parse(const SourceMap& sources, FileId file, const ParseLimits& limits,
                                 Diagnostics& diagnostics);

// The top-level declarations of a file, found by a cheap scan (no ANTLR): what each declares and where. It lets a large
// library be parsed only as far as a program uses it.
struct Outline {
  struct Item {
    std::string keyword;  // op, extern, monoid, rewrite, dim, mesh, program, use
    std::string name;     // empty for rewrites
    Span span;            // from its doc comment to its last byte
  };
  std::vector<Item> items;
};
Outline outline(const SourceMap& sources, FileId file);

// Parses only these bytes of a file, which must be whole declarations, and appends them to `module`. Returns false if
// there was an error.
bool parse_part(const SourceMap& sources, Span part, const ParseLimits& limits, ast::Module& module,
                Diagnostics& diagnostics);

}  // namespace tap
