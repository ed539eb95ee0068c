// A03: a zero byte.
// RUN: tapc check %s
// EXIT: 1
