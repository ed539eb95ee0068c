// A06: an overlong form in a string.
// RUN: tapc check %s
// EXIT: 1
