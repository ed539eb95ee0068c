// Messages for syntax errors: what was found and what was expected, in Tap's terms.
#pragma once

#include <bitset>

#include "compiler/frontend/syntax/tokens.h"

namespace tap {

// Where the parser stopped. The parser knows rules and token sets; messages need only this.
struct SyntaxProblem {
  enum class Construct : std::uint8_t {
    other,
    expression,
    conditional,
    let,
    reduction,
    iterate,
    call_or_cell,
    signature,
    tensor,
    program_head,
    op_head,
    dim,
    mesh,
    monoid,
    outside_kernel,
    rewrite,
    statement,
    barrier,
    split,
    group,
    sharding,
    parameters
  };
  std::size_t token = 0;  // the unexpected one
  std::size_t start = 0;  // where the construct begins
  Construct construct = Construct::other;
  std::bitset<128> expected;  // by TokenKind
  bool too_deep = false;      // nested beyond the limit instead
};

Diagnostic syntax_message(const TokenList& list, const SyntaxProblem& problem, const ParseLimits& limits);

// At the top of a file, where a declaration was expected.
Diagnostic not_a_declaration(const TokenList& list, std::size_t token);

}  // namespace tap
