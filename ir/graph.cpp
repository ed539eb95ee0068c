#include "ir/graph.h"

namespace tap::ir {

Interner::Interner(Program& program) : program_(program) {
  for (std::size_t i = 0; i < program_.operators.size(); ++i)
    operators_.emplace(structural_hash(program_.operators[i]), OperatorId(i));
}

OperatorId Interner::add(Operator op) {
  std::size_t hash = structural_hash(op);
  auto [begin, end] = operators_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (equal_structure(program_[it->second], op)) return it->second;
  OperatorId id{program_.operators.size()};
  program_.operators.push_back(std::move(op));
  operators_.emplace(hash, id);
  return id;
}

void Interner::assign(Operation& operation, Operator op) {
  OperationNames own = names_of(op);
  operation.op = add(std::move(op));
  operation.names = names_if_different(program_[operation.op], std::move(own));
}

// A program has only a few monoids. Two that differ only in names stay separate: users know them by their names.
MonoidId Interner::add(Monoid monoid) {
  for (std::size_t i = 0; i < program_.monoids.size(); ++i)
    if (program_.monoids[i] == monoid) return MonoidId(i);
  program_.monoids.push_back(std::move(monoid));
  return MonoidId(program_.monoids.size() - 1);
}

}  // namespace tap::ir
