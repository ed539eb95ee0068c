// A05: CRLF line ends.
// RUN: tapc check %s
// EXIT: 1
