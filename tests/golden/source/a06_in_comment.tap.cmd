// A06: invalid UTF-8 in a comment.
// RUN: tapc check %s
// EXIT: 1
