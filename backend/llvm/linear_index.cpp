#include "backend/llvm/linear_index.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

namespace tap::backend {

using llvm::Value;

void LinearIndex::add(Value* value, std::int64_t factor) {
  using namespace llvm::PatternMatch;
  const llvm::APInt* number = nullptr;
  Value *x = nullptr, *y = nullptr;
  const auto scale = static_cast<std::uint64_t>(factor);
  if (match(value, m_APInt(number))) {
    constant_ += scale * number->getZExtValue();
  } else if (match(value, m_NSWAdd(m_Value(x), m_Value(y)))) {
    add(x, factor);
    add(y, factor);
  } else if (match(value, m_NSWSub(m_Value(x), m_Value(y)))) {
    add(x, factor);
    add(y, static_cast<std::int64_t>(-scale));
  } else if (match(value, m_NSWMul(m_Value(x), m_APInt(number)))) {
    add(x, static_cast<std::int64_t>(scale * number->getZExtValue()));
  } else {
    auto known = std::ranges::find_if(terms_, [&](const auto& term) { return term.first == value; });
    if (known == terms_.end()) terms_.emplace_back(value, scale);
    else known->second += scale;
  }
}

namespace {

// Blocks are numbered as they are made: those of inner loops later.
unsigned block_of(const Value* value) {
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction ? instruction->getParent()->getNumber() : 0;
}

}  // namespace

Value* LinearIndex::emit_address(llvm::IRBuilderBase& b, llvm::Type* cell, Value* base) const {
  auto terms = terms_;
  std::ranges::stable_sort(terms, {}, [](const auto& term) { return block_of(term.first); });
  for (const auto& [value, factor] : terms)
    if (factor != 0) base = b.CreateGEP(cell, base, factor == 1 ? value : b.CreateMul(value, b.getInt64(factor)));
  return constant_ == 0 ? base : b.CreateConstGEP1_64(cell, base, constant_);
}

}  // namespace tap::backend
