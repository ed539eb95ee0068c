#include "backend/llvm/module_key.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/llvm/build_id.h"
#include "backend/llvm/optimize.h"

namespace tap::backend {

ModuleKey key_of(const llvm::Module& module, const llvm::TargetMachine& machine, std::string_view checked) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  const std::string target = fmt::format("{} {} {}", machine.getTargetTriple().str(), machine.getTargetCPU().str(),
                                         machine.getTargetFeatureString().str());
  static const std::string build = build_id();
  return {digest_of({bitcode, optimize_options, target, build, checked}), bitcode.size()};
}

}  // namespace tap::backend
