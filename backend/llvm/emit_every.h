// Loads of every second, third or fourth cell: whole vectors, of which shuffles take the cells.
//
//   x[2*j] of 16 lanes      loads x[2*j0 .. 16 cells] and x[2*j0 + 15 .. 16 cells]: a shuffle takes 0, 2, … of both
//
// A gather takes an access for each lane. Nothing beyond the last cell is read.
#pragma once

#include <cstdint>
#include <functional>

namespace llvm {
class Instruction;
class IRBuilderBase;
class Type;
class Value;
}  // namespace llvm

namespace tap::backend {

// `made`: called with each load. Pre: 2 <= step <= lanes.
llvm::Value* load_every(llvm::IRBuilderBase& b, std::uint32_t step, llvm::Value* address, llvm::Type* cell,
                        std::uint32_t lanes, const std::function<void(llvm::Instruction&)>& made);

}  // namespace tap::backend
