// Checks the legality of accesses and reports a violation with its witness.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

struct WriterAt {
  ir::OperatorId op;
  std::uint32_t write;
  Span span;
  std::optional<ir::OperationNames> names = std::nullopt;
};

// Throws Abandoned after reporting, in terms of the operator's source. `spans` are those of the operator's reads, in
// `module`.
void prove_reads(Elaboration& elaboration, ir::OperatorId op, const std::optional<ir::OperationNames>& names,
                 const std::vector<Span>& spans, Span statement, const ast::Module& module);
void prove_writes(Elaboration& elaboration, const std::string& name, Span declared, const Shape& shape,
                  const std::vector<WriterAt>& writers);

}  // namespace tap
