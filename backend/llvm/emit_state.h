// The state of emitting one kernel: where its tensors, box and variables are. Shared by the emitters of statements
// (emit_statements.cpp) and cells (emit_lazy.cpp, emit_straight.cpp).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "backend/llvm/emit_arithmetic.h"
#include "backend/loops/cell_placement.h"
#include "backend/loops/loops.h"

namespace llvm {
class BasicBlock;
class DILocation;
class DISubprogram;
class Function;
class Instruction;
class MDNode;
class PHINode;
}  // namespace llvm

namespace tap::backend {

// The lanes of a vector: consecutive values of `variable`, starting at its scalar value. A null mask: all are active;
// else the first `active` lanes, a number that may be negative or too large.
struct Lanes {
  std::uint32_t variable = 0;
  std::uint32_t count = 1;
  llvm::Value* mask = nullptr;
  llvm::Value* active = nullptr;
};

// The parts of a cell's dependences that may change inside straight code.
struct CellFacts {
  bool accumulates = false;  // depends on accumulators
  std::set<std::uint32_t> variables;
};

// acc + a*b of floats, rounded once: the same in scalar and vector code.
struct FusedProduct {
  ir::CellId accumulator, product;
};
std::optional<FusedProduct> fused_product(const Kernel& kernel, const ir::CellNode& sum);

// The number of each statement, as the source line of its code.
struct StatementLines {
  llvm::DISubprogram* function = nullptr;
  std::unordered_map<const Statement*, std::uint32_t> line;
  // Each before those inside it. Returns the number after the last one.
  std::uint32_t number(const std::vector<Statement>& body, std::uint32_t next);
  void erase(const std::vector<Statement>& body);
};

struct EmitState {
  const Kernel& kernel;
  llvm::IRBuilderBase& b;
  llvm::Function* function = nullptr;
  llvm::Value* error = nullptr;
  std::vector<llvm::Value*> variables;  // null if not in scope; with lanes, the first lane's
  std::vector<std::int64_t> trips;      // by variable: the current pass of an unrolled loop, else 0
  std::vector<std::int64_t> versions;   // by variable: the version of its value in straight code, else 0
  std::optional<Lanes> lanes;
  bool stores_under_masks = true;    // else in parts (emit_leading.h)
  bool non_temporal_stores = false;  // has stores that bypass the caches (emit_non_temporal.h)
  std::vector<bool> folded;          // by accumulator: whether its lanes are combined
  std::optional<StatementLines> lines = {};
  bool straight = false;  // inside unrolled loops or lanes: no branches
  std::uint32_t section = 0;
  // Values already computed in straight code that do not depend on accumulators, by cell and the versions of the
  // variables that it depends on.
  std::map<std::pair<ir::CellId, std::vector<std::int64_t>>, llvm::Value*> known;
  // One pass of an unrolled loop, or a vector of lanes, by the versions that the loop's bounds depend on: equal
  // versions share one.
  struct Turn {
    std::int64_t version = 0;
    llvm::Value* first = nullptr;
    llvm::Value* mask = nullptr;
    llvm::Value* active = nullptr;
  };
  std::map<std::tuple<const For*, std::vector<std::int64_t>, std::uint32_t>, Turn> turns;
  std::int64_t last_version = 0;
  void forget() {  // at every branch
    known.clear();
    turns.clear();
  }
  std::vector<std::optional<CellFacts>> facts;          // by cell, once computed
  std::vector<std::vector<llvm::Value*>> accumulators;  // addresses, by accumulator and index
  std::vector<llvm::Value*> bases;                      // by tensor
  std::vector<std::vector<llvm::Value*>> strides;       // by tensor and axis
  std::vector<llvm::MDNode*> scope;                     // by tensor: the alias scope of its accesses …
  std::vector<llvm::MDNode*> noalias_scopes;            // … and the scopes they do not alias

  llvm::DILocation* location_of(const Statement& statement, llvm::DILocation* around) const;  // with `lines`
  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* sum(llvm::Value* x, llvm::Value* y);  // of indices
  llvm::Value* product(llvm::Value* x, llvm::Value* y);
  llvm::Value* affine(const ir::AffineExpr& e);
  llvm::Value* slot(std::uint32_t number);  // the accumulator's address
  llvm::Value* address(std::uint32_t tensor, const std::vector<llvm::Value*>& at);
  llvm::Value* load(std::uint32_t tensor, const std::vector<llvm::Value*>& at);
  void store(std::uint32_t tensor, const std::vector<llvm::Value*>& at, llvm::Value* value);
  llvm::Value* origin(std::uint32_t tensor, std::size_t axis);          // the coordinate of the first cell in memory
  void mark_no_alias(llvm::Instruction& access, std::uint32_t tensor);  // with accesses to other tensors
  // Leaves the kernel if the condition holds, with the current point in *error; inside an attempt, leaves only the
  // attempt.
  struct FailurePoint {
    std::uint32_t tensor = 0;
    std::size_t axis = 0;
    llvm::Value* value;
  };
  void fail_if(llvm::Value* condition, KernelFailure why, const FailurePoint& failure_point);

  using Failure = std::array<llvm::Value*, 4>;  // why, tensor, axis, value
  void fail_if(llvm::Value* condition, const Failure& failure);
  struct Attempt {
    llvm::BasicBlock* failed = nullptr;
    std::array<llvm::PHINode*, 4> failure = {};
  };
  void leave(const Failure& failure);
  Attempt* attempt = nullptr;  // null: a failure leaves the kernel
};

}  // namespace tap::backend
