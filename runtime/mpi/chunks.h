/* Long messages in parts: MPI counts bytes in an int, so a message above 2^31 - 1 bytes cannot be sent as one. Both ends
 * divide a message in the same way, and parts between two processes arrive in order. */
#pragma once

#include <stdint.h>

/* Calls `each(self, at, bytes)` for the parts of a message, in order, until one fails. Returns what that one returned. */
static inline int32_t tap_each_chunk(int64_t bytes, int64_t most, int32_t (*each)(void* self, int64_t at, int bytes),
                                     void* self) {
  int64_t at = 0;
  for (; at < bytes; at += most) {
    const int32_t failed = each(self, at, (int)(bytes - at < most ? bytes - at : most));
    if (failed) return failed;
  }
  return 0;
}
