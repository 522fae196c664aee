# The commit that a build is of: target paceline_commit writes commit.cpp of app/host.
#
# Each build looks the commit up and writes the file only if it has changed, so that a new commit compiles one small file.
# `git archive` fills in the name below. A folder that is neither a checkout nor such an archive has no commit, and the
# program says so.
set(paceline_archived_commit "$Format:%H$")

if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(PACELINE_COMMIT_SOURCE "${PROJECT_BINARY_DIR}/commit.cpp")
    add_custom_target(
        paceline_commit
        COMMAND "${CMAKE_COMMAND}" -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "OUTPUT=${PACELINE_COMMIT_SOURCE}"
                -P "${CMAKE_CURRENT_LIST_FILE}"
        BYPRODUCTS "${PACELINE_COMMIT_SOURCE}"
        COMMENT "" VERBATIM)
    return()
endif()

cmake_minimum_required(VERSION 3.25)
set(commit "unknown: built outside a git checkout")
if(paceline_archived_commit MATCHES "^[0-9a-f]+$")
    string(SUBSTRING "${paceline_archived_commit}" 0 12 commit)
elseif(EXISTS "${SOURCE}/.git")  # of this folder, not of a checkout that it may be in
    execute_process(
        COMMAND git --no-optional-locks "--git-dir=${SOURCE}/.git" "--work-tree=${SOURCE}" describe --always --dirty
                "--exclude=*" --abbrev=12
        WORKING_DIRECTORY "${SOURCE}"
        RESULT_VARIABLE code OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(code STREQUAL "0")
        set(commit "${described}")
    endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT
"// Made by cmake/Commit.cmake.
#include \"app/host/commit.hpp\"

namespace paceline {

std::string_view commit() { return \"@commit@\"; }

}  // namespace paceline
")
