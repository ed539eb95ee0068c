// One cell operation compiled on its own, over arrays, for any number of lanes: what the tests of native functions and
// their bench call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/cell.h"

namespace tap::backend::test {

class ArrayFunction {
 public:
  // lanes 0: scalars. Pre: the operation cannot fail on this type.
  ArrayFunction(ir::CellOp op, ElementType type, unsigned lanes);
  static ArrayFunction cast(ElementType from, ElementType to, unsigned lanes);
  ~ArrayFunction();
  ArrayFunction(ArrayFunction&&) noexcept;

  // Pre: n is a multiple of the lanes. `y` is read only by operations of two arguments.
  void operator()(const void* x, const void* y, void* result, std::int64_t n) const { call_(x, y, result, n); }
  // Functions that the code calls but does not contain, once it is optimised.
  const std::vector<std::string>& calls() const { return calls_; }
  // Instructions of the loop and around it, before LLVM changes them.
  std::size_t instructions() const { return instructions_; }

 private:
  struct Impl;
  struct Code;
  explicit ArrayFunction(const Code& code);
  std::unique_ptr<Impl> impl_;
  void (*call_)(const void*, const void*, void*, std::int64_t) = nullptr;
  std::vector<std::string> calls_;
  std::size_t instructions_ = 0;
};

}  // namespace tap::backend::test
