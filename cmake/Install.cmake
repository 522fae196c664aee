# Where `cmake --install build/release --prefix P` puts files, and what find_package(paceline) then finds:
#
#   P/bin/paceline                  the program; it needs no other file of P
#   P/lib/libpaceline_<folder>.a    paceline::<folder>
#   P/include/paceline/<folder>     headers, included as in paceline: "sim/engine/units.hpp"
#   P/lib/cmake/paceline            the package
#   P/share/paceline/explorer       the page of `paceline explore`, if it was built
#   P/share/paceline                the shipped scenarios, their schema, scripts that draw results
#   P/share/doc/paceline            license, changelog, docs
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(PACELINE_SCENARIOS "${CMAKE_INSTALL_DATADIR}/paceline/scenarios")
set(paceline_package "${CMAKE_INSTALL_LIBDIR}/cmake/paceline")

install(TARGETS paceline)
foreach(folder IN ITEMS sim topologies models algorithms analysis app_host app_json app_scenario app_run app_study app_questions app)
    install(TARGETS paceline_${folder} EXPORT pacelineTargets
            FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/paceline")
endforeach()
install(EXPORT pacelineTargets NAMESPACE paceline:: DESTINATION "${paceline_package}")

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
        DESTINATION "${paceline_package}")

# The page of `paceline explore`, if `make explorer` has built it.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/build/explorer/" DESTINATION "${CMAKE_INSTALL_DATADIR}/paceline/explorer" OPTIONAL)
install(DIRECTORY scenarios/ DESTINATION "${PACELINE_SCENARIOS}")
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}")
