// Lists the choices of a program: rewrites of the program and of the libraries that it uses, where they match, and
// the orders of its products.
#pragma once

#include <string>
#include <vector>

#include "ir/graph_ids.h"
#include "passes/pass.h"

namespace tap::driver {

// Every choice, by its name in plans, with its alternatives; and why some are not offered.
//
//   C: choose 0 or 1
//     0  as it is written
//          C: f32[3, 5] = matmul(A, B)
//     1  rewrite matmul(x, w) => sum_axis<-2>(products(x, w))
//          C.z: f32[3, 4, 5] = products(A, B)
//          C: f32[3, 5] = sum_axis(C.z)
//
// Pre: the program is the result of offer_choices.
std::string describe_choices(const ir::Program& program, const std::vector<passes::Remark>& remarks);

}  // namespace tap::driver
