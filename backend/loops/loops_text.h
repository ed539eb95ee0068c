// The text form of kernels. Tests parse it back (tests/kernel_text):  parse_kernel(print(k)) == normal(k)
//
//   kernel (x: f32[64], w: f32[64, 64]) -> (y: f32[64]) over (i, k)
//     cut i by 4 worth 2
//     nontemporal y
//     acc0: f32x16
//     acc1: f32
//     for i in lo_i..hi_i
//       acc0 = 0.0
//       for k0 in lo_k..hi_k step 16
//         lanes k in k0..hi_k of 16
//           acc0 = acc0 + x[k] * w[i, k]
//       acc1 = fold acc0 by (acc2; acc3) -> acc2 + acc3
//       y[i] = acc1
//
// Loops: `for v in a..b step n`, or `down` from the end; `unroll v in a of n`; `lanes v in a..b of n`, or `in a of n`
// if all lanes are in range. Statements: `acc0[v] = cell`, `y[i] = cell`, `if v - 2 >= 0, (cell)`, `let v = max(a,
// b)`, `let v = (cell)` from data, `section 2` with its statements, and folds. Parentheses where an affine expression
// is expected contain a cell: x[(ids[n])?, k].
//
// Cells are infix. `?` marks a coordinate that may be out of bounds, `else` gives the fill, and `!` marks a read that
// must not be speculated: x[i - 1? else 0.0], x[i / n]!. Constants are i64 or f32 unless they have a type suffix:
// 1.5_f64, 3_i32. A cell that a statement uses several times is named first: let %0 = exp(x[i]).
#pragma once

#include <string>
#include <vector>

#include "backend/loops/loops.h"

namespace tap::backend {

// The kernel in the normal form of its text: cells, loads, slots and variables are numbered in the order of their first
// use in statements, without duplicates or unused ones; all names are distinct and not reserved.
// Pre: verify() finds nothing.
Kernel normal(const Kernel& kernel);

// The text, and for each of its lines the number of its statement in the kernel: from 1, each before those inside it; 0 for the
// lines before the first statement.
struct KernelText {
  std::string text;
  std::vector<std::uint32_t> statements;
};
KernelText print_with_statements(const Kernel& kernel);

// One after another, separated by empty lines.
std::string print(const std::vector<Kernel>& kernels);

// The text with numbers instead of names: equal for kernels that compute the same in the same way. It contains
// everything that the code depends on, so it can serve as a key.
std::string canonical(const Kernel& kernel);

}  // namespace tap::backend
