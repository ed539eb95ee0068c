// A05: lone CR line ends.
// RUN: tapc check %s
// EXIT: 1
