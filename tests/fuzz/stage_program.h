// The program whose stages fuzz_blocks and fuzz_schedule read: a mesh and a transfer, an outside kernel with a halo, a
// repetition, and partial sums; as `tapc verify --stages` writes it of
//
//   H[i] = X[i] * C[i];  G = add_left(H);  (Y) = iterate 2 (a = G) { b[i] = a[i - 1 else 0] + a[i]; (b) };  S[] = sum[i] Y[i]
//
// with H and b in 2 blocks over the mesh, and S in 3 over threads. The corpora hold what was made of it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "ir/graph.h"
#include "ir/text.h"

namespace tap::fuzz {

inline constexpr std::string_view stage_program_text = R"(tap-ir 1
mesh m [d: 2]
monoid 0 sum
  component v f64
  cell 0 = argument f64 0
  cell 1 = argument f64 1
  cell 2 = constant f64 0
  cell 3 = add f64 (0, 1)
  identity (2)
  combine (3)
  laws associative proved identity proved commutative proved fold unknown
operator 0 H
  dim i 0..6 parallel
  operand f64[6]
  operand f64[6]
  result f64[6]
  operands named (X, C)
  results named (H)
  cell 0 = read f64 0
  cell 1 = read f64 1
  cell 2 = mul f64 (0, 1)
  read 0 at [i] shape [1]
  read 1 at [i] shape [1]
  write 0 at [i] shape [1]
  map (2)
operator 1 add_left
  dim i 0..6 parallel
  operand f64[6]
  result f64[6]
  operands named (x)
  results named (y)
  cell 0 = constant f64 0
  read 0 at [i - 1] shape [2] else 0
  write 0 at [i] shape [1]
  kernel "add_left"
operator 2 b
  dim i 0..6 parallel
  operand f64[6]
  result f64[6]
  operands named (a)
  results named (b)
  cell 0 = constant f64 0
  cell 1 = read f64 0
  cell 2 = read f64 1
  cell 3 = add f64 (1, 2)
  read 0 at [i - 1] shape [1] else 0
  read 0 at [i] shape [1]
  write 0 at [i] shape [1]
  map (3)
operator 3 iterate
  operand f64[6]
  result f64[6]
  operands named (a)
  results named (a)
  region iterate 1 0..2
operator 4 S
  dim i 0..6 reduce
  operand f64[6]
  result f64[]
  operands named (Y)
  results named (S)
  cell 0 = read f64 0
  read 0 at [i] shape [1]
  write 0 at [] shape []
  reduce 0 (0)
operator 5 H
  dim i 0..6 parallel
  dim i_block 0..2 parallel
  block 0 by 1 into 2
  operand f64[6]
  operand f64[6]
  result f64[6]
  operands named (X, C)
  results named (H)
  cell 0 = read f64 0
  cell 1 = read f64 1
  cell 2 = mul f64 (0, 1)
  read 0 at [i] shape [1]
  read 1 at [i] shape [1]
  write 0 at [i] shape [1]
  map (2)
operator 6 S
  dim i 0..6 reduce
  dim i_block 0..3 parallel
  block 0 by 1 into 3
  operand f64[6]
  result f64[3]
  operands named (Y)
  results named ("S.partial")
  cell 0 = read f64 0
  read 0 at [i] shape [1]
  write 0 at [i_block] shape [1]
  reduce 0 (0)
operator 7 S
  dim i_block 0..3 reduce
  operand f64[3]
  result f64[]
  results named (S)
  cell 0 = read f64 0
  read 0 at [i_block] shape [1]
  write 0 at [] shape []
  reduce 0 (0)
operator 8 b
  dim i 0..6 parallel
  dim i_block 0..2 parallel
  block 0 by 1 into 2
  operand f64[6]
  result f64[6]
  operands named (a)
  results named (b)
  cell 0 = constant f64 0
  cell 1 = read f64 0
  cell 2 = read f64 1
  cell 3 = add f64 (1, 2)
  read 0 at [i - 1] shape [1] else 0
  read 0 at [i] shape [1]
  write 0 at [i] shape [1]
  map (3)
operator 9 transfer
  dim i 0..6 parallel
  operand f64[6]
  result f64[6]
  read 0 at [i - 1] shape [2]
  write 0 at [i - 1] shape [2]
  transfer
graph 0 p
  value 0 X f64[6]
  value 1 C f64[6] const
  value 2 S f64[]
  value 3 H f64[6]
  value 4 G f64[6]
  value 5 Y f64[6]
  value 6 "S.partial" f64[3]
  value 7 "H.moved" f64[6]
  inputs (0, 1)
  outputs (5, 2)
  do 5 (0, 1) -> (3) placed [1 over axis m.d]
  do 9 (3) -> (7)
  do 1 (7) -> (4)
  do 3 (4) -> (5)
  do 6 (5) -> (6) placed [1 over threads]
  do 7 (6) -> (2)
graph 1 "p.iterate"
  value 0 a f64[6]
  value 1 b f64[6]
  inputs (0)
  outputs (1)
  do 8 (0) -> (1) placed [1 over axis m.d]
main 0
)";

inline void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

inline const ir::Program& stage_program() {
  static const auto parsed = ir::parse_program(stage_program_text);
  require(std::holds_alternative<ir::Program>(parsed), "the program is none");
  return std::get<ir::Program>(parsed);
}

}  // namespace tap::fuzz
