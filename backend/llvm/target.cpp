#include "backend/llvm/target.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <array>
#include <map>

#include "backend/llvm/library.h"
#include "backend/llvm/passes/strength_reduction.h"
#include "backend/llvm/start_llvm.h"
#include "support/check.h"

namespace tap::backend {
namespace {

struct Named {
  std::string_view name, triple, cpu;
  bool linkable;
};
#ifdef __x86_64__
constexpr bool host_is_x86 = true;
#else
constexpr bool host_is_x86 = false;
#endif
constexpr std::array<Named, 3> named = {{
    {"x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", host_is_x86},
    {"x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", host_is_x86},
    {"aarch64", "aarch64-unknown-linux-gnu", "generic", false},
}};

// The features that each level of x86-64 adds to the previous one, as far as a compiler uses them.
constexpr std::array<std::string_view, 7> of_v3 = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt"};
constexpr std::array<std::string_view, 5> of_v4 = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};

std::map<std::string, bool> host_features() {
  std::map<std::string, bool> result;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) result.emplace(feature.first().str(), feature.second);
  return result;
}

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names = {"native"};
  for (const Named& n : named) names.emplace_back(n.name);
  return names;
}

std::optional<Target> target_named(std::string_view name) {
  if (name == "native") {
    Target target{"native", llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), "", true};
    for (const auto& [feature, enabled] : host_features())
      target.features += (target.features.empty() ? "" : ",") + std::string(enabled ? "+" : "-") + feature;
    return target;
  }
  auto it = std::find_if(named.begin(), named.end(), [&](const Named& n) { return n.name == name; });
  if (it == named.end()) return std::nullopt;
  return Target{std::string(name), std::string(it->triple), std::string(it->cpu), "", it->linkable};
}

std::vector<std::string> features_of(const Target& target) {
  std::vector<std::string> result;
  if (target.name == "native") {
    for (const auto& [feature, enabled] : host_features())
      if (enabled) result.push_back(feature);
    return result;
  }
  if (!target.name.starts_with("x86-64")) return result;
  result.assign(of_v3.begin(), of_v3.end());
  if (target.name == "x86-64-v4") result.insert(result.end(), of_v4.begin(), of_v4.end());
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<std::string> missing_features(const std::vector<std::string>& required) {
  std::map<std::string, bool> host = host_features();
  std::vector<std::string> result;
  for (const std::string& feature : required)
    if (auto it = host.find(feature); it == host.end() || !it->second) result.push_back(feature);
  return result;
}

bool runs_here(const Target& target) {
  const llvm::Triple target_triple(target.triple), host(llvm::sys::getProcessTriple());
  return target_triple.getArch() == host.getArch() && target_triple.getOS() == host.getOS() &&
         missing_features(features_of(target)).empty();
}

namespace {

// The processors of the targets with names, which cmake/llvm.cmake links.
constexpr std::array parts_of_named = {
    LLVMInitializeX86TargetInfo,   LLVMInitializeX86Target,         LLVMInitializeX86TargetMC,
    LLVMInitializeX86AsmPrinter,   LLVMInitializeAArch64TargetInfo, LLVMInitializeAArch64Target,
    LLVMInitializeAArch64TargetMC, LLVMInitializeAArch64AsmPrinter,
};

void initialise(const Target& target) {
  static const bool native = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    leave_out_strength_reduction();
    return true;
  }();
  static_cast<void>(native);
  if (target.name == "native") return;
  static const bool others = [] {
    for (auto initialise_part : parts_of_named) initialise_part();
    return true;
  }();
  static_cast<void>(others);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> machine_for(const Target& target) {
  InLlvm llvm_guard;
  initialise(target);
  std::string problem;
  llvm::Triple triple(target.triple);
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(triple, problem);
  TAP_CHECK(known, "LLVM cannot generate code for " + target.triple + ": " + problem);
  llvm::TargetOptions options;
  options.LoopAlignment = 64;  // a short loop across two lines of the cache takes up to half as long again
  return std::unique_ptr<llvm::TargetMachine>(known->createTargetMachine(triple, target.cpu, target.features, options,
                                                                         llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                         llvm::CodeGenOptLevel::Default));
}

std::string sha256(std::string_view bytes) {
  auto digest = llvm::SHA256::hash(
      llvm::ArrayRef<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  return llvm::toHex(llvm::ArrayRef<std::uint8_t>(digest.data(), digest.size()), /*LowerCase=*/true);
}

}  // namespace tap::backend
