// An object file in memory, ready to be called. This part of LLVM has no static objects, so it needs no start_llvm().
#pragma once

#include <memory>
#include <string>

namespace tap::backend {

class LoadedObject {
 public:
  // Functions of the C library resolve to those of this process. Pre: the object was compiled for this processor.
  explicit LoadedObject(const std::string& bytes);
  ~LoadedObject();
  LoadedObject(LoadedObject&&) noexcept;

  const void* address_of(const std::string& symbol) const;  // null: it has none

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tap::backend
