// Which products are no instructions of their own: a·b + c is one. Ignores other uses of the product, which are rare.
#pragma once

#include <unordered_map>

#include "backend/loops/loops.h"

namespace tap::cost {

class FusedProducts {
 public:
  explicit FusedProducts(const backend::Kernel& kernel) : kernel_(kernel) {}

  bool is_sum(const ir::CellNode& node) const;  // with a product in it
  bool is_product(ir::CellId id);               // in a sum

 private:
  bool is_in_a_sum(ir::CellId product) const;

  const backend::Kernel& kernel_;
  std::unordered_map<ir::CellId, bool> products_;
};

}  // namespace tap::cost
