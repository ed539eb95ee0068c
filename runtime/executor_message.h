// A growing string without the C++ library, and the message for a kernel that failed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/kernel_abi.h"
#include "runtime/schedule_tables.h"

namespace tap::executor {

// A number as text.
class Decimal {
 public:
  explicit Decimal(int64_t number);
  const char* text() const { return digits_ + begin_; }  // not terminated
  size_t size() const { return sizeof digits_ - begin_; }

 private:
  char digits_[24];
  size_t begin_ = sizeof digits_;
};

// If memory runs out, the text so far remains.
class Message {
 public:
  Message() = default;
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message();

  Message& add(const char* text);
  Message& add(const char* text, size_t bytes);
  Message& add(int64_t number);
  void clear() { size_ = 0; }
  const char* text() const { return size_ == 0 ? "" : text_; }  // terminated
  size_t size() const { return size_; }

 private:
  char* text_ = nullptr;
  size_t size_ = 0, room_ = 0;
};

// division by zero in `y` at i=1, j=8
void describe(Message& message, const tables::Reader& tables, const tables::Operation& operation, KernelFailure why,
              const KernelError& error);

}  // namespace tap::executor
