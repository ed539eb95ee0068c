// The text form of a certificate.  parse_certificate(print(c)) == c
//
//   tap-certificate 2
//   step compose_maps
//     before 4f2a…
//     after 91c0…
//     graph 0 of 0
//       value 0 is 0
//       value 1 is 2/1/5              a path: value 5 in the graph of operation 1 in the graph of operation 2
//       value 2 is 3:1/4 at 7         value 4 in graph 1 of the choice 3; of an iterate, in trip 7
//       value 3 is new
//       operation 0 composed 1 (read 0 by 0, read 2 by 4 (read 0 by 3))
//       alike 2, 5
//     alternative 6 of 5              graphs of a new choice, both in `after`
//       operation 0 product 0 (0, 3, 2)
//     alternative 7 of 3              graph 3 is one of the rules
//     rule 2 (0, 1) (0)               by instance 2: which inputs and outputs correspond
//     pattern 5 of 2
//   step expand
//     before 91c0…
//     after 77ab…
//     made blocks
//   end
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "ir/certificate.h"
#include "ir/text.h"

namespace tap::ir {

inline constexpr int certificate_version = 2;

std::string print(const Certificate& certificate);
std::variant<Certificate, TextError> parse_certificate(std::string_view text);

}  // namespace tap::ir
