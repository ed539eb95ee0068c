#include "support/phase.h"

#include <exception>

namespace tap {
namespace {

thread_local const char* current = nullptr;
thread_local const char* failed = nullptr;

}  // namespace

Phase::Phase(const char* name) : outer_(current), exceptions_(std::uncaught_exceptions()) {
  current = name;
  failed = nullptr;
}

Phase::~Phase() {
  if (!failed && std::uncaught_exceptions() > exceptions_) failed = current;
  current = outer_;
}

const char* Phase::of_failure() { return failed ? failed : current ? current : "start"; }

}  // namespace tap
