#include "backend/llvm/loaded_object.h"

#include <dlfcn.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>

#include "support/check.h"
#include "support/memory_failure.h"

namespace tap::backend {
namespace {

class Memory : public llvm::SectionMemoryManager {
 public:
  // In one piece: sections refer to each other by 32 bits.
  Memory() : SectionMemoryManager(nullptr, /*ReserveAlloc=*/true) {}
  std::uint64_t getSymbolAddress(const std::string& name) override {
    return reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, name.c_str()));
  }
  std::uint8_t* allocateCodeSection(std::uintptr_t size, unsigned alignment, unsigned id,
                                    llvm::StringRef name) override {
    return required(SectionMemoryManager::allocateCodeSection(size, alignment, id, name));
  }
  std::uint8_t* allocateDataSection(std::uintptr_t size, unsigned alignment, unsigned id, llvm::StringRef name,
                                    bool read_only) override {
    return required(SectionMemoryManager::allocateDataSection(size, alignment, id, name, read_only));
  }
  // Kernels throw nothing.
  void registerEHFrames(std::uint8_t*, std::uint64_t, std::size_t) override {}
  void deregisterEHFrames() override {}

 private:
  static std::uint8_t* required(std::uint8_t* memory) {
    if (!memory) allocation_failed();
    return memory;
  }
};

}  // namespace

struct LoadedObject::Impl {
  Memory memory;
  llvm::RuntimeDyld linker{memory, memory};
};

LoadedObject::LoadedObject(const std::string& bytes) {
  AllocationMustSucceed here;
  impl_ = std::make_unique<Impl>();
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
  if (!object) TAP_UNREACHABLE("an object file is not valid: " + llvm::toString(object.takeError()));
  impl_->linker.loadObject(**object);
  impl_->linker.resolveRelocations();
  TAP_CHECK(!impl_->linker.hasError(), "an object file cannot be loaded: " + impl_->linker.getErrorString().str());
  std::string problem;
  TAP_CHECK(!impl_->memory.finalizeMemory(&problem), "the memory of a kernel cannot be protected: " + problem);
}
LoadedObject::~LoadedObject() = default;
LoadedObject::LoadedObject(LoadedObject&&) noexcept = default;

const void* LoadedObject::address_of(const std::string& symbol) const {
  return reinterpret_cast<const void*>(impl_->linker.getSymbol(symbol).getAddress());
}

}  // namespace tap::backend
