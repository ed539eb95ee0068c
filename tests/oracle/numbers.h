// The numbers of the oracle: what one operation on values of an element type gives, written from the language reference and
// from IEEE 754 alone. Nothing of the compiler is used, not even its rounding.
//
//   bf16(1 + 2^-9) = 1        i8(300) = 44        i8(300.0) = 127        -7 / 2 = -4        max(-0, 0) = 0
#pragma once

#include <stdexcept>
#include <string>

#include "support/element_type.h"

namespace tap::oracle {

// The program stops while it runs: a division by zero, an id out of range.
struct Stop : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// The text is no legal program: a read outside its tensor, a cell that is written twice.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A float is in `f`, all else in `i`. Within an equation f16 and bf16 are the f32 that they compute in.
struct Value {
  std::int64_t i = 0;
  double f = 0;
};
inline Value integer(std::int64_t i) { return {i, 0}; }
inline Value floating(double f) { return {0, f}; }

// What one cell of the type can hold that is nearest to a number: to even where two are.
double nearest(long double number, ElementType type);
std::int64_t low_bits(std::int64_t number, ElementType type);

// A cell as bytes, and the other way. `store` rounds, once.
Value load(const std::byte* at, ElementType type);
void store(std::byte* at, ElementType type, Value value);

Value converted(Value value, ElementType from, ElementType to);
Value least(ElementType type);     // T.min
Value greatest(ElementType type);  // T.max

enum class Op { add, sub, mul, div, mod, equal, not_equal, less, less_equal, greater, greater_equal };
Value arithmetic(Op op, ElementType type, Value a, Value b);  // of comparisons: a bool

Value negative(ElementType type, Value a);
Value maximum(ElementType type, Value a, Value b);
Value minimum(ElementType type, Value a, Value b);

// exp(x), pow(a, b), bitand(a, b), …; null if there is no such function.
using Function = Value (*)(ElementType type, Value a, Value b);
struct FunctionInfo {
  Function call;
  std::size_t arguments;
  bool returns_bool;
};
const FunctionInfo* function_named(const std::string& name);

}  // namespace tap::oracle
