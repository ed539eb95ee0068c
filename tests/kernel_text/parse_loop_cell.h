// Parses the cells of a kernel's text (backend/loops/loops_text.h): infix, with the precedence that ir/text/print_cell.cpp writes.
#pragma once

#include <map>
#include <string>

#include "backend/loops/loops.h"
#include "ir/text/parse_line.h"

namespace tap::backend {

// What names mean in a kernel's text.
struct KernelNames {
  std::map<std::string, std::uint32_t, std::less<>> tensors;
  std::map<std::string, ir::CellId, std::less<>> cells;  // %0, in the statement that is being read
};

class CellParser {
 public:
  CellParser(ir::Line& line, Kernel& kernel, const KernelNames& names) : line_(line), kernel_(kernel), names_(names) {}
  ir::CellId cell();
  std::uint32_t slot();    // acc0[i]
  std::uint32_t tensor();  // its name
  ir::AffineExpr affine() { return line_.affine(kernel_.variables); }

 private:
  using Operations = std::initializer_list<ir::CellOp>;
  ir::CellId infix(std::size_t level);
  ir::CellId negation();
  ir::CellId comparison();
  ir::CellId sign();
  ir::CellId atom();
  ir::CellId choice();
  ir::CellId constant();
  ir::CellId call(ir::CellOp op);
  ir::CellId read(std::uint32_t tensor);
  Coordinate coordinate();
  std::optional<ir::CellOp> eat_one_of(Operations operations);
  ir::CellId apply(ir::CellOp op, std::vector<ir::CellId> args);
  bool at_number() const;
  bool at_accumulator() const;

  ir::Line& line_;
  Kernel& kernel_;
  const KernelNames& names_;
  int depth_ = 0;
};

}  // namespace tap::backend
