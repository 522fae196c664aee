# Looks for what some parts of paceline need, and says which parts are off. What is left builds without them.
#
# | sets                     | for                                    | needs                                        |
# |--------------------------|----------------------------------------|----------------------------------------------|
# | PACELINE_WITH_MPI        | studies over MPI                       | Open MPI or another (PACELINE_MPI)           |
# | PACELINE_WITH_HTTPLIB    | the server of `paceline explore`       | cpp-httplib                                  |
# | PACELINE_WITH_TESTS      | tests/                                 | doctest, valijson, MPFR (PACELINE_TESTS)     |
# | PACELINE_WITH_BENCHMARK  | three of the programs of bench/        | Google Benchmark (PACELINE_BENCH)            |
# | PACELINE_WITH_SIMGRID    | the comparison with SimGrid            | SimGrid (PACELINE_TESTS, PACELINE_BENCH)     |
# | PACELINE_WITH_PYTHON     | python/                                | pybind11 and Python's headers                |
# |                          |                                        | (PACELINE_PYTHON_MODULE)                     |
#
# The build itself needs none of Node.js, Chromium and clang's libraries for WebAssembly: `make explorer` does, and
# installs them.

# paceline_off(<part> <what was not found> <Debian's packages>)
function(paceline_off part missing packages)
    message(NOTICE "${part}: off, ${missing} not found (${packages})")
endfunction()

# MPI: AUTO uses it if it is installed, but not in a build with sanitizers, because Open MPI leaks memory at exit. Only
# the program uses it, through its C interface; CMake's module looks for it with the C++ compiler, so that no C compiler
# is needed. The module creates the target MPI::MPI_CXX whether MPI is there or not: only MPI_CXX_FOUND tells.
set(MPI_CXX_SKIP_MPICXX TRUE)
set(PACELINE_WITH_MPI OFF)
if(PACELINE_MPI STREQUAL "AUTO" AND PACELINE_SANITIZE)
    message(NOTICE "Studies over MPI: off, for the sanitizers; PACELINE_MPI=ON has them nevertheless")
elseif(PACELINE_MPI STREQUAL "AUTO")
    find_package(MPI QUIET COMPONENTS CXX)
    if(MPI_CXX_FOUND)
        set(PACELINE_WITH_MPI ON)
    else()
        paceline_off("Studies over MPI" "MPI was" "libopenmpi-dev, openmpi-bin")
    endif()
elseif(PACELINE_MPI)
    find_package(MPI REQUIRED COMPONENTS CXX)
    set(PACELINE_WITH_MPI ON)
endif()

find_package(Httplib QUIET)
set(PACELINE_WITH_HTTPLIB ${Httplib_FOUND})
if(NOT Httplib_FOUND)
    paceline_off("The server of paceline explore" "cpp-httplib was" "libcpp-httplib-dev")
endif()

set(PACELINE_WITH_TESTS OFF)
if(PACELINE_TESTS)
    find_package(doctest QUIET)
    find_package(valijson QUIET)
    find_library(PACELINE_MPFR_LIBRARY mpfr)
    mark_as_advanced(PACELINE_MPFR_LIBRARY)
    if(doctest_FOUND AND valijson_FOUND AND PACELINE_MPFR_LIBRARY)
        set(PACELINE_WITH_TESTS ON)
    else()
        paceline_off("Tests" "doctest, valijson or MPFR was" "doctest-dev, libvalijson-dev, libmpfr-dev")
    endif()
endif()

set(PACELINE_WITH_BENCHMARK OFF)
if(PACELINE_BENCH)
    find_package(benchmark QUIET)
    set(PACELINE_WITH_BENCHMARK ${benchmark_FOUND})
    if(NOT benchmark_FOUND)
        paceline_off("Three of the benchmarks" "Google Benchmark was" "libbenchmark-dev")
    endif()
endif()

set(PACELINE_WITH_SIMGRID OFF)
if(PACELINE_TESTS OR PACELINE_BENCH)
    find_package(SimGrid QUIET)
    set(PACELINE_WITH_SIMGRID ${SimGrid_FOUND})
    if(NOT SimGrid_FOUND)
        paceline_off("The comparison with SimGrid" "SimGrid was" "libsimgrid-dev")
    endif()
endif()

set(PACELINE_WITH_PYTHON OFF)
if(PACELINE_PYTHON_MODULE)
    set(PACELINE_PYTHON_EXECUTABLE "/usr/bin/python3" CACHE FILEPATH "The Python that the module is for")
    set(Python3_EXECUTABLE "${PACELINE_PYTHON_EXECUTABLE}")
    find_package(Python3 3.10 QUIET COMPONENTS Interpreter Development.Module)
    find_package(pybind11 2.10 QUIET CONFIG)
    find_package(pybind11_json QUIET)
    if(Python3_FOUND AND pybind11_FOUND AND pybind11_json_FOUND)
        set(PACELINE_WITH_PYTHON ON)
    else()
        paceline_off("The Python module" "pybind11, pybind11_json or Python's headers were"
                     "pybind11-dev, pybind11-json-dev, python3-dev")
    endif()
endif()
