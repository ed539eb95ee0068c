// The meaning of tapc's exit codes.
#pragma once

namespace tap::exit_code {

inline constexpr int done = 0;
inline constexpr int wrong_program = 1;
inline constexpr int wrong_command_line = 2;
inline constexpr int wrong_data = 3;
inline constexpr int resource = 4;      // memory, disk, a limit
inline constexpr int check_failed = 5;  // a certificate was refused, or a result differs from the expected one
inline constexpr int run_time = 6;
inline constexpr int internal = 70;

}  // namespace tap::exit_code
