// The current phase of compilation, for the report of an internal error.
//
//   Phase phase("legality");        internal error in legality: …
#pragma once

namespace tap {

class Phase {
 public:
  explicit Phase(const char* name);  // a string literal: it outlives everything, also in a signal handler
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  // The innermost phase that an exception last left, else the current one, else "start".
  static const char* of_failure();

 private:
  const char* outer_;
  int exceptions_;
};

}  // namespace tap
