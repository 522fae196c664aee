# paceline_look_for_mpi(): MPI::MPI_CXX, if PACELINE_MPI asks for it. Only the program uses it, by the C interface.
#
# AUTO takes what is there, but leaves MPI out of a build with sanitizers: Open MPI frees little of what it has at
# its end. CMake's module looks for MPI with the C++ compiler of the project, so that no C compiler is needed.
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
