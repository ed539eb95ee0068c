#include "runtime/library_views.h"

#include <stdlib.h>

namespace tap::library {
namespace {

// The bytes from the first to the last cell.
struct Span {
  uintptr_t begin, end;
  const Tensor* tensor;
  bool written;
};
Span span_of(const Reader& tables, const Tensor& tensor, const TensorView& view, bool written) {
  auto begin = reinterpret_cast<uintptr_t>(view.data);
  if (bytes_of(tables, tensor) == 0) return {begin, begin, &tensor, written};
  if (!view.strides) return {begin, begin + static_cast<uintptr_t>(bytes_of(tables, tensor)), &tensor, written};
  int64_t least = 0, most = 0;
  for (int64_t axis = 0; axis < tensor.extents.count; ++axis) {
    int64_t reach = (tables.words(tensor.extents.at)[axis] - 1) * view.strides[axis] * tensor.element_bytes;
    (reach < 0 ? least : most) += reach;
  }
  return {begin + static_cast<uintptr_t>(least), begin + static_cast<uintptr_t>(most + tensor.element_bytes), &tensor,
          written};
}

int by_begin(const void* a, const void* b) {
  auto x = static_cast<const Span*>(a)->begin, y = static_cast<const Span*>(b)->begin;
  return x < y ? -1 : x > y;
}

// An axis of more than one cell. The sign of its stride does not affect overlap.
struct Axis {
  uint64_t stride;
  int64_t extent;
  uint64_t reach() const { return stride * static_cast<uint64_t>(extent - 1); }
};

int by_stride(const void* a, const void* b) {
  auto x = static_cast<const Axis*>(a)->stride, y = static_cast<const Axis*>(b)->stride;
  return x < y ? -1 : x > y;
}

// Marks every cell's address; a marked address belongs to another cell. `reach` is that of all axes.
Status mark_cells(const Axis* axes, int64_t count, uint64_t reach, bool& folded) {
  auto* marked = static_cast<unsigned char*>(calloc(reach / 8 + 1, 1));
  if (!marked) return Status::no_memory;
  int64_t at[max_index_dims] = {}, axis = 0;
  uint64_t offset = 0;
  do {
    auto bit = static_cast<unsigned char>(1u << offset % 8);
    folded = (marked[offset / 8] & bit) != 0;
    marked[offset / 8] |= bit;
    for (axis = 0; axis < count; ++axis) {
      offset += axes[axis].stride;
      if (++at[axis] < axes[axis].extent) break;
      offset -= axes[axis].reach() + axes[axis].stride;
      at[axis] = 0;
    }
  } while (!folded && axis < count);
  free(marked);
  return Status::done;
}

// Whether two cells of a tensor have the same address. An axis whose stride exceeds the reach of all smaller strides
// cannot cause this, so for a matrix with separate rows, in either order, nothing needs to be marked.
Status find_folds(const Reader& tables, const Tensor& tensor, const int64_t* strides, bool& folded) {
  Axis axes[max_index_dims];
  int64_t count = 0;
  uint64_t reach = 0;
  for (int64_t axis = 0; axis < tensor.extents.count; ++axis) {
    int64_t extent = tables.words(tensor.extents.at)[axis];
    if (extent <= 1) continue;
    auto stride = static_cast<uint64_t>(strides[axis]);
    axes[count++] = {strides[axis] < 0 ? 0 - stride : stride, extent};
    reach += axes[count - 1].reach();
  }
  qsort(axes, static_cast<size_t>(count), sizeof(Axis), by_stride);
  for (; count > 0; --count) {
    uint64_t others = reach - axes[count - 1].reach();
    if (axes[count - 1].stride <= others) break;
    reach = others;
  }
  return count == 0 ? Status::done : mark_cells(axes, count, reach, folded);
}

}  // namespace

void add_name(Message& message, const Reader& tables, const Tensor& tensor) {
  message.add("`").add(tables.text(tensor.name), static_cast<size_t>(tensor.name.bytes)).add("`");
}

Status check_views(const Reader& tables, const tables::List& list, const TensorView* views, bool written,
                   Message& message) {
  for (int64_t k = 0; k < list.count; ++k) {
    const Tensor& tensor = tables.all<Tensor>(list)[k];
    if (views && bytes_of(tables, tensor) == 0) continue;
    bool present = views && views[k].data, folded = false;
    if (present && written && views[k].strides && find_folds(tables, tensor, views[k].strides, folded) != Status::done)
      return Status::no_memory;
    if (present && !folded) continue;
    add_name(message, tables, tensor);
    message.add(folded ? " is an output whose cells overlap: its strides map two of them to one address"
                       : " is missing: its address is null");
    return Status::wrong_argument;
  }
  return Status::done;
}

Status check_overlap(const Reader& tables, const TensorView* inputs, const TensorView* outputs, Message& message) {
  const auto& head = tables.head();
  auto* spans =
      static_cast<Span*>(malloc(static_cast<size_t>(head.inputs.count + head.outputs.count + 1) * sizeof(Span)));
  if (!spans) return Status::no_memory;
  int64_t count = 0;
  auto add = [&](const Tensor& tensor, const TensorView& view, bool written) {
    if (bytes_of(tables, tensor) > 0) spans[count++] = span_of(tables, tensor, view, written);
  };
  for (int64_t k = 0; k < head.inputs.count; ++k) add(tables.all<Tensor>(head.inputs)[k], inputs[k], false);
  for (int64_t k = 0; k < head.outputs.count; ++k) add(tables.all<Tensor>(head.outputs)[k], outputs[k], true);
  qsort(spans, static_cast<size_t>(count), sizeof(Span), by_begin);
  const Span *any = nullptr, *written = nullptr;  // those that extend furthest
  Status status = Status::done;
  for (const Span* s = spans; s < spans + count && status == Status::done; ++s) {
    const Span* before = s->written ? any : written;
    if (before && before->end > s->begin) {
      add_name(message, tables, *s->tensor);
      message.add(" and ");
      add_name(message, tables, *before->tensor);
      message.add(" overlap or interleave in memory; outputs must not alias");
      status = Status::wrong_argument;
    }
    if (!any || any->end < s->end) any = s;
    if (s->written && (!written || written->end < s->end)) written = s;
  }
  free(spans);
  return status;
}

Status view_of(const Reader& tables, const Tensor& tensor, const DlTensor* from, TensorView& view, Message& message) {
  const char* problem = nullptr;
  const char* wrong = nullptr;
  if (!from) problem = " is missing";
  else if (from->device.type != 1) problem = " is not in CPU memory";
  else if (from->type.code != dl_codes[tensor.element] || from->type.bits != 8 * tensor.element_bytes ||
           from->type.lanes != 1)
    wrong = "element type";
  else if (from->rank != tensor.extents.count) wrong = "number of axes";
  for (int64_t axis = 0; !problem && !wrong && axis < tensor.extents.count; ++axis)
    if (from->shape[axis] != tables.words(tensor.extents.at)[axis]) wrong = "shape";
  if (problem || wrong) {
    add_name(message, tables, tensor);
    if (problem) message.add(problem);
    else message.add(misfit).add(wrong);
    return Status::wrong_argument;
  }
  view = {from->data ? static_cast<char*>(from->data) + from->byte_offset : nullptr, from->strides};
  return Status::done;
}

}  // namespace tap::library
