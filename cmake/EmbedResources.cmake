# paceline_embed_resources(<output.cpp> <file>...): a source file that holds the files' text, for app/json/resources.hpp.
# Paths are relative to the root of the project. A changed file reconfigures the build.
function(paceline_embed_resources output)
    set(entries "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${file}")
        file(READ "${PROJECT_SOURCE_DIR}/${file}" text)
        string(APPEND entries "    Resource{\"${file}\", R\"~embedded~(${text})~embedded~\"sv},\n")
    endforeach()
    list(LENGTH ARGN count)
    file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
"// Made by cmake/EmbedResources.cmake.
#include \"app/json/resources.hpp\"

#include <array>

#include \"sim/engine/check.hpp\"

namespace paceline {

namespace {

using namespace std::string_view_literals;  // a literal knows its length; counting it would be too long

constexpr std::array<Resource, @count@> all{{
@entries@}};

}  // namespace

std::span<const Resource> resources() { return all; }

std::string_view resource(std::string_view name) {
    for (const Resource& entry : all)
        if (entry.name == name) return entry.text;
    PACELINE_CHECK(false, \"a resource is named as in the source tree\");
}

}  // namespace paceline
")
endfunction()
