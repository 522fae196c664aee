// The last word of a program that runs out of memory where C++ cannot unwind.
//
// Too little memory is an exception, std::bad_alloc, and exit_code_of() turns it into a line and an
// exit code. Unwinding itself may need memory, however: the destructor of a nlohmann::json lists
// what it destroys. Where an allocation fails there, the language ends the program by
// std::terminate, which by default prints the exception's name and aborts.
//
// Limits: the line is plain text also with --log-json, since an object would need memory. Nothing
// of the results is damaged, because files are written beside their place and renamed.
#pragma once

namespace paceline {

/// What to do about too little memory, in one line without its end.
inline constexpr const char* out_of_memory_text =
    "there is not enough memory; use fewer nodes, a smaller model or batch, or a smaller --jobs, "
    "or raise the limit (ulimit -v)";

/// Makes std::terminate() say out_of_memory_text and exit with code point_failed when a
/// std::bad_alloc cannot be unwound. Other exceptions end the program as before.
void tell_memory_that_runs_out_in_unwinding();

}  // namespace paceline
