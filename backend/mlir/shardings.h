// Meshes and shardings in MLIR's shard dialect.
//
//   mesh pod = [data: 4, model: 4]      shard.grid @pod(shape = 4x4)
//   X @ pod[{data}, {}]                 %s = shard.sharding @pod split_axes = [[0], []] : !shard.sharding
//                                       %X_2 = shard.shard %X to %s : tensor<8x16xf32>
//
// The dialect has no sub-axes: a mesh axis with sub-axes in use becomes several grid axes. For uneven blocks the
// offsets of all blocks are listed. Partial sums and explicit device orders cannot be expressed.
#pragma once

#include <map>

#include "backend/mlir/operation.h"
#include "ir/shardings/sharding.h"

namespace tap::backend::mlir {

// The grid of a mesh: how each axis is split into digits, major to minor, for all shardings of the program.
struct Grid {
  const ir::Mesh* mesh = nullptr;
  std::vector<std::vector<std::int64_t>> boundaries = {};  // by axis: 1, …, its size; each divides the next
  std::vector<std::int64_t> shape() const;
  std::vector<std::int64_t> numbers_of(const ir::AxisRef& axis) const;  // the grid axes that it consists of
};

class Grids {
 public:
  // For all shardings of values and uses in the graphs that main reaches. Throws Refused.
  explicit Grids(const ir::Program& program);  // which must outlive it

  std::vector<std::string> declarations() const;
  // Returns the value to use from here on: annotated, or unchanged if the sharding has no content (a mesh without
  // axes).
  std::string shard(Text& text, const std::string& value, const ir::Value& of, const ir::Sharding& sharding,
                    bool of_use) const;

 private:
  void add(const ir::Sharding& sharding, const std::string& value);

  const ir::Program& program_;
  std::map<std::string, Grid> grids_;  // by mesh name
};

}  // namespace tap::backend::mlir
