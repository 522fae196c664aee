# paceline_look_for_mpi() finds MPI::MPI_CXX if PACELINE_MPI asks for it. Only the program uses MPI, through its C
# interface.
#
# AUTO uses MPI if it is installed, but not in a build with sanitizers: Open MPI leaks memory at exit. CMake's module
# looks for MPI with the C++ compiler of the project, so that no C compiler is needed.
macro(paceline_look_for_mpi)
    set(MPI_CXX_SKIP_MPICXX TRUE)
    if(PACELINE_MPI STREQUAL "AUTO" AND PACELINE_SANITIZE)
        message(NOTICE "MPI: off, for the sanitizers; PACELINE_MPI=ON has it nevertheless")
    elseif(PACELINE_MPI STREQUAL "AUTO")
        find_package(MPI QUIET COMPONENTS CXX)
        if(MPI_CXX_FOUND)
            message(STATUS "MPI: ${MPI_CXX_LIBRARIES}")
        else()
            message(NOTICE "MPI: off, none was found (libopenmpi-dev, openmpi-bin); paceline run works in one process")
        endif()
    elseif(PACELINE_MPI)
        find_package(MPI REQUIRED COMPONENTS CXX)
    endif()
endmacro()
