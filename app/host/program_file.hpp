// Where the code of this build is: the program, or a shared library such as the Python module.
#pragma once

#include <filesystem>

namespace paceline {

/// Returns the file that this very code was loaded from, as an absolute path.
std::filesystem::path program_file();

}  // namespace paceline
