// A01: an empty file.
// RUN: tapc check %s
// EXIT: 1
