// A07: a character that changes the reading direction.
// RUN: tapc check %s
// EXIT: 1
