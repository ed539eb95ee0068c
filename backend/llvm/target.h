// The processors that tapc compiles for.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace tap::backend {

// A processor to compile for.
struct Target {
  std::string name;    // native, x86-64-v3, …
  std::string triple;  // as LLVM spells it
  std::string cpu;
  std::string features;   // +avx2,+fma,…
  bool linkable = false;  // tapc contains the runtime for it
  bool operator==(const Target&) const = default;
};
std::vector<std::string> target_names();
// Null if the name is unknown.
std::optional<Target> target_named(std::string_view name);
// Features that code for the target may use and this processor lacks: avx512f, …
std::vector<std::string> missing_features(const std::vector<std::string>& required);
// Features that the loader of the code must check, with `missing_features`.
std::vector<std::string> features_of(const Target& target);
// Whether this processor can run code for the target.
bool runs_here(const Target& target);

// Generates position-independent code, for memory and shared libraries. One thread at a time may use it.
std::unique_ptr<llvm::TargetMachine> machine_for(const Target& target);

}  // namespace tap::backend
