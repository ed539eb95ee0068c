// The switch behind which mutants.py puts its changes: every mutant has a number, and all are compiled into one build.
//
//   if (at < end)   becomes   if (at < ::tap::mutant::Relation<41, '<', 'l'>{} < end)     // `<=` when mutant 41 is on
//
// TAP_MUTANT=41 in the environment turns mutant 41 on. TAP_MUTANT_COVER=FILE records in FILE which mutants are reached: a byte
// for each, set through a shared mapping, so that processes that end by a signal count, too.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tap::mutant {

inline constexpr int most = 4096;

// Begins without a constructor, so that it needs no guard: what is embedded in others' programs has no C++ runtime.
struct Switch {
  int on = undecided;
  unsigned char* reached = nullptr;

  static constexpr int undecided = -2, none = -1;
  void decide() {  // twice, if two threads come first, with one result
    const char* file = std::getenv("TAP_MUTANT_COVER");
    const int descriptor = file == nullptr ? -1 : ::open(file, O_RDWR | O_CLOEXEC);
    if (descriptor >= 0) {
      void* bytes = ::mmap(nullptr, most, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
      ::close(descriptor);
      if (bytes != MAP_FAILED) reached = static_cast<unsigned char*>(bytes);
    }
    const char* number = std::getenv("TAP_MUTANT");
    on = number == nullptr ? none : std::atoi(number);
  }
};
inline constinit Switch the_switch;

// Is mutant `number` on?
inline bool on(int number) {
  if (the_switch.on == Switch::undecided) the_switch.decide();
  if (the_switch.reached != nullptr) the_switch.reached[number] = 1;
  return the_switch.on == number;
}

// a < Relation<41, '<', 'l'>{} < b: the operator is named by a letter of its own, since `<` and `<=` share their first one.
template <char Op, class A, class B>
constexpr decltype(auto) apply(const A& a, const B& b) {
  if constexpr (Op == '<') return a < b;
  else if constexpr (Op == 'l') return a <= b;
  else if constexpr (Op == '>') return a > b;
  else if constexpr (Op == 'g') return a >= b;
  else if constexpr (Op == '=') return a == b;
  else if constexpr (Op == '!') return a != b;
  else if constexpr (Op == '+') return a + b;
  else if constexpr (Op == '-') return a - b;
  else if constexpr (Op == '*') return a * b;
  else static_assert(Op == '<', "no such operator");
}

template <int Number, char From, char To>
struct Operator {};

template <int Number, char From, char To, class A>
struct Half {
  const A& a;
};

#define TAP_MUTANT_OPERATOR(symbol)                                                   \
  template <int Number, char From, char To, class A>                                  \
  Half<Number, From, To, A> operator symbol(const A& a, Operator<Number, From, To>) { \
    return {a};                                                                       \
  }                                                                                   \
  template <int Number, char From, char To, class A, class B>                         \
  auto operator symbol(Half<Number, From, To, A> half, const B& b) {                  \
    return on(Number) ? apply<To>(half.a, b) : apply<From>(half.a, b);                \
  }
TAP_MUTANT_OPERATOR(<)
TAP_MUTANT_OPERATOR(<=)
TAP_MUTANT_OPERATOR(>)
TAP_MUTANT_OPERATOR(>=)
TAP_MUTANT_OPERATOR(==)
TAP_MUTANT_OPERATOR(!=)
TAP_MUTANT_OPERATOR(+)
TAP_MUTANT_OPERATOR(-)
TAP_MUTANT_OPERATOR(*)
#undef TAP_MUTANT_OPERATOR

template <int Number, class T>
T least(const T& a, const T& b) {
  return on(Number) ? std::max(a, b) : std::min(a, b);
}
template <int Number, class T>
T greatest(const T& a, const T& b) {
  return on(Number) ? std::min(a, b) : std::max(a, b);
}

}  // namespace tap::mutant
