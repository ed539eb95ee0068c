// A law as a question about a number of states, over any algebra.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/proofs/laws_evaluate.h"
#include "compiler/frontend/proofs/laws_numbers.h"

namespace tap {

enum class LawName : std::uint8_t { identity, associative, commutative, fold };
inline constexpr const char* law_names[] = {"identity", "associative", "commutative", "fold"};
inline const char* name_of(LawName law) { return law_names[static_cast<int>(law)]; }

// For a fold, the first `left` states are one block, the others the second.
struct Question {
  LawName law;
  std::size_t states;
  std::size_t left = 0;
};

template <class Laws, class State>
auto evaluate_question(Laws& laws, const Question& q, const std::vector<State>& s) {
  switch (q.law) {
    case LawName::identity: return laws.identity(s[0]);
    case LawName::associative: return laws.associative(s[0], s[1], s[2]);
    case LawName::commutative: return laws.commutative(s[0], s[1]);
    case LawName::fold: break;
  }
  auto middle = s.begin() + static_cast<std::ptrdiff_t>(q.left);
  return laws.fold({s.begin(), middle}, {middle, s.end()});
}

// For a fold: for blocks of at most this many elements each, and in total.
inline std::vector<Question> questions_of(LawName law, std::size_t largest_block, std::size_t largest_whole) {
  switch (law) {
    case LawName::identity: return {{law, 1}};
    case LawName::associative: return {{law, 3}};
    case LawName::commutative: return {{law, 2}};
    case LawName::fold: break;
  }
  std::vector<Question> questions{{law, 1, 1}};
  for (std::size_t left = 1; left <= largest_block; ++left) {
    for (std::size_t right = 1; right <= largest_block && left + right <= largest_whole; ++right) {
      questions.push_back({law, left + right, left});
    }
  }
  return questions;
}

inline std::string state_name(const Question& q, std::size_t k) {
  if (q.law != LawName::fold) return std::string(1, static_cast<char>('a' + k));
  return k < q.left ? "xs[" + std::to_string(k) + "]" : "ys[" + std::to_string(k - q.left) + "]";
}

// The infinities that components of a monoid's states may have: those of its identity.
inline std::vector<int> infinities_of(const ir::Program& program, const ir::Monoid& monoid) {
  NumberAlgebra numbers;
  std::vector<int> infinities;
  for (const ir::Scalar& s : CellEvaluator(program, numbers).identity(monoid)) infinities.push_back(infinity_of(s));
  return infinities;
}

// States made of variables, by variable(type, name, infinity).
template <class Value, class Variable>
std::vector<std::vector<Value>> variables_of(const ir::Monoid& monoid, const Question& q,
                                             const std::vector<int>& infinities, Variable variable) {
  std::vector<std::vector<Value>> states(q.states);
  for (std::size_t s = 0; s < q.states; ++s)
    for (std::size_t k = 0; k < monoid.arity(); ++k)
      states[s].push_back(
          variable(monoid.components[k].type, state_name(q, s) + "." + std::to_string(k), infinities[k]));
  return states;
}

}  // namespace tap
