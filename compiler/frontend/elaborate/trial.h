// A speculative attempt: during its lifetime, diagnostics are collected separately from those shown to the user.
#pragma once

#include "compiler/frontend/elaborate/elaboration.h"

namespace tap {

class Trial {
 public:
  explicit Trial(Elaboration& elaboration) : elaboration_(elaboration), real_(elaboration.diagnostics) {
    elaboration.diagnostics = &own_;
  }
  ~Trial() { elaboration_.diagnostics = real_; }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  bool failed() const { return own_.has_errors(); }
  // The first error; null if there is none.
  const Diagnostic* error() const {
    for (const auto& d : own_.all())
      if (d.severity() == Severity::error) return &d;
    return nullptr;
  }
  std::string message() const { return error() ? error()->message : ""; }

 private:
  Elaboration& elaboration_;
  Diagnostics* real_;
  Diagnostics own_;
};

}  // namespace tap
