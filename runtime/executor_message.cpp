#include "runtime/executor_message.h"

#include <stdlib.h>
#include <string.h>

namespace tap::executor {

Message::~Message() { free(text_); }

Message& Message::add(const char* text) { return add(text, strlen(text)); }

Message& Message::add(const char* text, size_t bytes) {
  if (size_ + bytes + 1 > room_) {
    size_t room = 2 * (size_ + bytes + 1);
    auto* more = static_cast<char*>(realloc(text_, room));
    if (!more) return *this;
    text_ = more;
    room_ = room;
  }
  memcpy(text_ + size_, text, bytes);
  size_ += bytes;
  text_[size_] = 0;
  return *this;
}

Decimal::Decimal(int64_t number) {
  auto rest = static_cast<uint64_t>(number);
  if (number < 0) rest = 0 - rest;
  do {
    digits_[--begin_] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (number < 0) digits_[--begin_] = '-';
}

Message& Message::add(int64_t number) {
  const Decimal decimal(number);
  return add(decimal.text(), decimal.size());
}

namespace {

void describe_index(Message& message, const tables::Reader& tables, const tables::Operation& operation,
                    const KernelError& error) {
  const auto& operand = tables.all<tables::Operand>(operation.operands)[error.tensor];
  message.add("index ").add(error.value).add(" is out of range for axis ").add(error.axis).add(" of `");
  message.add(tables.text(operand.name), static_cast<size_t>(operand.name.bytes)).add("`, which has extent ");
  message.add(tables.all<int64_t>(operand.extents)[error.axis]).add(",");
}

}  // namespace

void describe(Message& message, const tables::Reader& tables, const tables::Operation& operation, KernelFailure why,
              const KernelError& error) {
  switch (why) {
    case KernelFailure::division_by_zero: message.add("division by zero"); break;
    case KernelFailure::remainder_by_zero: message.add("remainder of a division by zero"); break;
    case KernelFailure::index_out_of_range: describe_index(message, tables, operation, error); break;
    case KernelFailure::negative_shift: message.add("shift by the negative number ").add(error.value); break;
    case KernelFailure::none: break;
  }
  message.add(" in `").add(tables.text(operation.name), static_cast<size_t>(operation.name.bytes)).add("`");
  const auto* dims = tables.all<tables::Dim>(operation.dims);
  const char* between = " at ";
  for (int64_t d = 0; d < operation.dims.count; ++d) {
    if (dims[d].hidden) continue;
    message.add(between).add(tables.text(dims[d].name), static_cast<size_t>(dims[d].name.bytes));
    message.add("=").add(error.point[d]);
    between = ", ";
  }
}

}  // namespace tap::executor
