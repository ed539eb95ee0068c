// A04: a byte order mark is accepted, and columns count after it.
// RUN: tapc check %s
// EXIT: 1
