// Checks the tensors that the caller of a compiled library passes: present, of the right type and shape, and not
// overlapping an output.
#pragma once

#include <stdint.h>

#include "runtime/library.h"

namespace tap::library {

using executor::Message;
using executor::Status;
using tables::Reader;
using tables::Tensor;

void add_name(Message& message, const Reader& tables, const Tensor& tensor);

// Checks that the list and all of its nonempty tensors are present, and that the cells of a result are distinct.
Status check_views(const Reader& tables, const tables::List& list, const TensorView* views, bool written,
                   Message& message);

// Checks that outputs do not alias anything.
Status check_overlap(const Reader& tables, const TensorView* inputs, const TensorView* outputs, Message& message);

// The view of a DLPack tensor, which must have the program's type and shape.
Status view_of(const Reader& tables, const Tensor& tensor, const DlTensor* from, TensorView& view, Message& message);

}  // namespace tap::library
