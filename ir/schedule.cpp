#include "ir/schedule.h"

#include "support/checked.h"

namespace tap::ir {

std::int64_t Buffer::bytes() const {
  return checked::mul(element_count(box.shape()), static_cast<std::int64_t>(size_of(element)));
}

}  // namespace tap::ir
