// The dict literal in a .npy header, by a strict grammar; blanks may stand between tokens:
//
//   header = '{' [entry {',' entry} [',']] '}'        each key exactly once, in any order
//   entry  = key ':' (string | 'True' | 'False' | tuple)
//   tuple  = '(' ')' | '(' int ',' ')' | '(' int ',' int {',' int} [','] ')'
#pragma once

#include <string>
#include <string_view>

#include "support/tensor.h"

namespace tap {

struct NpyHeaderText {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// Linear in the text's length; throws Failure, exit 3, with the byte of the header and what was expected there.
NpyHeaderText parse_npy_header_text(std::string_view text, const std::string& source_name, std::size_t most_dims);

}  // namespace tap
