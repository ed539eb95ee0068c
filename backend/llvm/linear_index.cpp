#include "backend/llvm/linear_index.h"

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

Value* LinearIndex::emit_terms(llvm::IRBuilderBase& b) const {
  Value* sum = nullptr;
  for (const auto& [value, factor] : terms_) {
    if (factor == 0) continue;
    Value* term = factor == 1 ? value : b.CreateMul(value, b.getInt64(factor));
    sum = sum ? b.CreateAdd(sum, term) : term;
  }
  return sum;
}

}  // namespace tap::backend
