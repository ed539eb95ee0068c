// A speculative attempt: while it exists, diagnostics are collected separately from those shown to the user.
#pragma once

#include "compiler/frontend/elaborate/session.h"

namespace tap {

class Trial {
 public:
  explicit Trial(Session& session) : session_(session), real_(session.diagnostics) { session.diagnostics = &own_; }
  ~Trial() { session_.diagnostics = real_; }
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
  Session& session_;
  Diagnostics* real_;
  Diagnostics own_;
};

}  // namespace tap
