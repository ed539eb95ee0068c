// The current phase of compilation, for the report of an internal error.
//
//   Phase phase("legality");        internal error in legality: …
#pragma once

namespace tap {

class Phase {
 public:
  explicit Phase(const char* name);  // a string literal, so that a signal handler can use it at any time
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

  // The innermost phase that an exception left last, else the current one, else "start".
  static const char* of_failure();

 private:
  const char* outer_;
  int exceptions_;
};

}  // namespace tap
