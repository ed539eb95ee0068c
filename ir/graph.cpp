#include "ir/graph.h"

#include "ir/hash.h"

namespace tap::ir {
namespace {

// Operators that differ in names only are kept apart, so that each still prints in its author's words. Names count in the
// hash too: one equation may stand in a program a hundred thousand times, each time under the name of another value.
std::size_t hash_with_names(const Operator& op) {
  std::size_t hash = hash_text(structural_hash(op), op.name);
  for (const IndexDim& dim : op.dims) hash = hash_text(hash, dim.name);
  for (const auto* names : {&op.operand_names, &op.result_names})
    for (const std::string& name : *names) hash = hash_text(hash, name);
  return hash;
}

}  // namespace

Interner::Interner(Program& program) : program_(program) {
  for (std::size_t i = 0; i < program_.operators.size(); ++i)
    operators_.emplace(hash_with_names(program_.operators[i]), OperatorId(i));
}

OperatorId Interner::add(Operator op) {
  std::size_t hash = hash_with_names(op);
  auto [begin, end] = operators_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (program_[it->second] == op) return it->second;
  OperatorId id{program_.operators.size()};
  program_.operators.push_back(std::move(op));
  operators_.emplace(hash, id);
  return id;
}

// A program has a handful of monoids.
MonoidId Interner::add(Monoid monoid) {
  for (std::size_t i = 0; i < program_.monoids.size(); ++i)
    if (program_.monoids[i] == monoid) return MonoidId(i);
  program_.monoids.push_back(std::move(monoid));
  return MonoidId(program_.monoids.size() - 1);
}

}  // namespace tap::ir
