// A06: a surrogate in a name.
// RUN: tapc check %s
// EXIT: 1
