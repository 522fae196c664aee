# Finds cpp-httplib, which serves the page of `paceline explore`: target Httplib::Httplib. Debian compiles it as a library;
# elsewhere it may be a header alone.
find_path(Httplib_INCLUDE httplib.h)
find_library(Httplib_LIBRARY cpp-httplib)
mark_as_advanced(Httplib_INCLUDE Httplib_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Httplib REQUIRED_VARS Httplib_INCLUDE)
if(Httplib_FOUND AND NOT TARGET Httplib::Httplib)
    add_library(Httplib::Httplib INTERFACE IMPORTED)
    target_include_directories(Httplib::Httplib INTERFACE "${Httplib_INCLUDE}")
    if(Httplib_LIBRARY)
        target_link_libraries(Httplib::Httplib INTERFACE "${Httplib_LIBRARY}")
    endif()
endif()
