// A01: nothing but comments and blanks.
// RUN: tapc check %s
// EXIT: 1
