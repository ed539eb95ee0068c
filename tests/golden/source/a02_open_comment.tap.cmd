// A02: a block comment that is not closed, told where it opens.
// RUN: tapc check %s
// EXIT: 1
