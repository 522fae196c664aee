# Finds SimGrid, which the benchmarks and one optional test compare paceline with: target SimGrid::SimGrid.
find_path(SimGrid_INCLUDE simgrid/s4u.hpp)
find_library(SimGrid_LIBRARY simgrid)
mark_as_advanced(SimGrid_INCLUDE SimGrid_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE)
if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
    add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
    set_target_properties(
        SimGrid::SimGrid PROPERTIES IMPORTED_LOCATION "${SimGrid_LIBRARY}"
                                    INTERFACE_INCLUDE_DIRECTORIES "${SimGrid_INCLUDE}")
endif()
