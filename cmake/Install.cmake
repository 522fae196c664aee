# Where `cmake --install build/release --prefix P` puts files, and what find_package(paceline) then finds:
#
#   component program:
#   P/bin/paceline                  the program; it needs no other file of P but for the plugins
#   P/lib/paceline                  the plugins for threads, and for MPI and `paceline explore`, if they were built
#   P/share/paceline                the shipped scenarios, their schema, scripts that draw results, and the page of
#                                   `paceline explore`, if `make explorer` has built it
#   P/share/doc/paceline            license, changelog, docs
#   P/share/...                     what man and the shells look for, printed by the program itself
#   component python:               the module (python/CMakeLists.txt)
#   component development:
#   P/lib/libpaceline_<folder>.a    paceline::<folder>
#   P/include/paceline/<folder>     headers, included as in paceline: "sim/engine/units.hpp"
#   P/lib/cmake/paceline            the package
#
# Packages have the first two (cmake/Packages.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PACELINE_SCENARIOS "${CMAKE_INSTALL_DATADIR}/paceline/scenarios")
set(paceline_package "${CMAKE_INSTALL_LIBDIR}/cmake/paceline")

install(TARGETS paceline COMPONENT program)
foreach(folder IN ITEMS sim topologies threads models algorithms analysis app_host app_json app_scenario app_run app_study app_questions app)
    install(TARGETS paceline_${folder} EXPORT pacelineTargets
            ARCHIVE COMPONENT development
            FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/paceline" COMPONENT development)
endforeach()
install(EXPORT pacelineTargets NAMESPACE paceline:: DESTINATION "${paceline_package}" COMPONENT development)

configure_package_config_file(
    "${CMAKE_CURRENT_LIST_DIR}/pacelineConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/pacelineConfig.cmake"
    INSTALL_DESTINATION "${paceline_package}"
    PATH_VARS PACELINE_SCENARIOS)
# Below 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pacelineConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pacelineConfig.cmake"
              "${PROJECT_BINARY_DIR}/pacelineConfigVersion.cmake"
        DESTINATION "${paceline_package}" COMPONENT development)

set(shared "${CMAKE_INSTALL_DATADIR}/paceline")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/build/explorer/" DESTINATION "${shared}/explorer" COMPONENT program OPTIONAL)
install(DIRECTORY analysis/plots/ DESTINATION "${shared}/plots" COMPONENT program FILES_MATCHING PATTERN "*.py")
install(DIRECTORY scenarios/ DESTINATION "${PACELINE_SCENARIOS}" COMPONENT program)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
install(DIRECTORY docs changes DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program)
foreach(plugin IN ITEMS paceline_tbb paceline_explore paceline_mpi)
    if(TARGET ${plugin})
        install(TARGETS ${plugin} LIBRARY DESTINATION lib/paceline COMPONENT program)
    endif()
endforeach()

# install_printed(<path below share> <arguments of paceline>): a file of what the program prints.
function(install_printed path)
    set(file "${PROJECT_BINARY_DIR}/printed/${path}")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:paceline>\" ${ARGN} OUTPUT_FILE \"${file}\"
                                  COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
    cmake_path(GET path PARENT_PATH folder)
    install(FILES "${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" COMPONENT program)
endfunction()
if(NOT CMAKE_CROSSCOMPILING)
    install_printed(man/man1/paceline.1 man)
    install_printed(bash-completion/completions/paceline completion bash)
    install_printed(zsh/vendor-completions/_paceline completion zsh)
    install_printed(fish/vendor_completions.d/paceline.fish completion fish)
endif()
# The pages with tables of all keys and combinations replace the short ones of the sources.
find_program(PACELINE_PYTHON3 python3)
mark_as_advanced(PACELINE_PYTHON3)
if(PACELINE_PYTHON3 AND NOT CMAKE_CROSSCOMPILING)
    install(CODE "execute_process(COMMAND \"${PACELINE_PYTHON3}\" -B \"${PROJECT_SOURCE_DIR}/tools/make_reference.py\"
                                          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/docs\"
                                          \"$<TARGET_FILE:paceline>\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endif()
include(Packages)
