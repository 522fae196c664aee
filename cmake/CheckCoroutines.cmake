# Refuses a compiler with broken coroutines, before it builds a broken simulator.
#
#   include(cmake/CheckCoroutines.cmake)
#   paceline_check_coroutines()          # after project(... LANGUAGES CXX)
#
# Compiles and runs coroutine_conformance.cpp without and with optimization. A success is cached for
# this compiler, these flags and this program; a failure is never cached.

set(paceline_coroutine_conformance_source "${CMAKE_CURRENT_LIST_DIR}/coroutine_conformance.cpp")

function(paceline_check_coroutines)
    set(source "${paceline_coroutine_conformance_source}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    file(SHA256 "${source}" source_hash)
    string(CONCAT key "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
                      "${CMAKE_CXX_FLAGS} ${source_hash}")
    if("${PACELINE_COROUTINES_PASSED}" STREQUAL "${key}")
        return()
    endif()

    set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} (${CMAKE_CXX_COMPILER})")
    if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
        message(WARNING "The coroutines of ${compiler} are not checked: its programs do not run here.")
        return()
    endif()

    message(STATUS "Checking the coroutines of ${compiler}")
    foreach(optimization IN ITEMS -O0 -O2)
        try_run(exit_code compiled SOURCES "${source}" NO_CACHE
                COMPILE_DEFINITIONS ${optimization}
                CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
                COMPILE_OUTPUT_VARIABLE compile_output
                RUN_OUTPUT_STDOUT_VARIABLE run_output)
        if(NOT compiled)
            paceline_refuse_compiler("${compiler}" "does not compile C++20 coroutines (${optimization}):"
                                     "${compile_output}")
        elseif(NOT exit_code STREQUAL "0")
            paceline_refuse_compiler("${compiler}" "gets coroutines wrong (${optimization}):"
                                     "${run_output}  exit: ${exit_code}")
        endif()
    endforeach()
    message(STATUS "Checking the coroutines of ${compiler} - right")
    set(PACELINE_COROUTINES_PASSED "${key}" CACHE INTERNAL "compiler whose coroutines are right")
endfunction()

function(paceline_refuse_compiler compiler fault output)
    message(FATAL_ERROR
        "paceline cannot be built with ${compiler}, which ${fault}\n"
        "${output}\n"
        "Use Clang 16 or later, or GCC 13 or later. On Debian 12:\n"
        "  apt-get install clang-19\n"
        "and configure with -DCMAKE_CXX_COMPILER=clang++-19 in an empty build directory "
        "(the presets do: cmake --preset release).\n")
endfunction()
