# paceline_embed_resources(<output.cpp> <function> <file>...): a source file with a function of namespace paceline that
# returns the files' names and texts (see app/json/resources.hpp). Paths are relative to the root of the project. A changed
# file reconfigures the build.
function(paceline_embed_resources output function)
    set(entries "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
        file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
        string(APPEND entries "    EmbeddedFile{\"${file}\", R\"~embedded~(${text})~embedded~\"sv},\n")
    endforeach()
    list(LENGTH ARGN count)
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/EmbedResources.cmake.
#include \"app/json/resources.hpp\"

#include <array>

namespace paceline {

namespace {

using namespace std::string_view_literals;  // a literal knows its length; counting it would be too long

constexpr std::array<EmbeddedFile, @count@> all_of_@function@{{
@entries@}};

}  // namespace

std::span<const EmbeddedFile> @function@();
std::span<const EmbeddedFile> @function@() { return all_of_@function@; }

}  // namespace paceline
")
endfunction()

# paceline_embed_text(<output.hpp> <name> <file>): a header with the file's text as a constant, for what the compiler reads of
# it.
function(paceline_embed_text output name file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
    file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/EmbedResources.cmake.
#pragma once

#include <string_view>

namespace paceline {

using namespace std::string_view_literals;

inline constexpr std::string_view @name@ = R\"~embedded~(@text@)~embedded~\"sv;

}  // namespace paceline
")
endfunction()
