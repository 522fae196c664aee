# The libraries that are headers only, for a target that has no packages of its own (WebAssembly).
#
# Debian's headers lie in /usr/include beside those of the C library of this machine, which another target must not see. So
# the folders of the libraries are linked into one of their own. There are no zlib and no threads.
set(paceline_headers "${PROJECT_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${paceline_headers}")
find_path(PACELINE_HOST_HEADERS fmt/format.h PATHS /usr/include NO_DEFAULT_PATH REQUIRED)
mark_as_advanced(PACELINE_HOST_HEADERS)
foreach(folder IN ITEMS boost fmt nlohmann Spectra)
    file(CREATE_LINK "${PACELINE_HOST_HEADERS}/${folder}" "${paceline_headers}/${folder}" SYMBOLIC)
endforeach()
foreach(folder IN ITEMS Eigen unsupported)
    file(CREATE_LINK "${PACELINE_HOST_HEADERS}/eigen3/${folder}" "${paceline_headers}/${folder}" SYMBOLIC)
endforeach()
foreach(package IN ITEMS fmt::fmt Boost::headers Eigen3::Eigen Spectra::Spectra nlohmann_json::nlohmann_json)
    add_library(${package} INTERFACE IMPORTED)
    target_include_directories(${package} SYSTEM INTERFACE "${paceline_headers}")
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
target_compile_definitions(Boost::headers INTERFACE BOOST_NO_CXX98_FUNCTION_BASE) # libc++ has no std::unary_function
