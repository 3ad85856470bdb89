# cmake --install: the program in bin, the scenes in share/carom/scenes (where the program looks for them, relative to
# itself), and for other projects headers, libraries and find_package(carom) with the targets carom::scene and so on.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET carom)
  install(TARGETS carom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
endif()
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/carom/scenes COMPONENT program
  FILES_MATCHING PATTERN "*.toml")
# The program that was just built finds them in the same place.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/share/carom")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/scenes" "${PROJECT_BINARY_DIR}/share/carom/scenes" SYMBOLIC)
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

if(CAROM_HAVE_FONT)
  install(FILES "${CAROM_FONT_LICENCE}" DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME DejaVu-licence.txt COMPONENT program)
endif()

set(carom_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/carom)
get_property(carom_libraries GLOBAL PROPERTY CAROM_LIBRARIES)
list(FILTER carom_libraries EXCLUDE REGEX "^carom_test_")
set(carom_viewer_parts "")
foreach(part carom_dep_glad carom_dep_window)
  if(TARGET ${part})
    list(APPEND carom_viewer_parts ${part})
  endif()
endforeach()
install(
  TARGETS ${carom_libraries} ${carom_viewer_parts} carom_build_info carom_dep_toml carom_dep_random123 carom_dep_hdf5 carom_dep_fmt
  EXPORT carom-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/carom)
install(DIRECTORY kernels host DESTINATION include/carom FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES "${PROJECT_BINARY_DIR}/generated/carom_build_info.hpp" DESTINATION include/carom)
install(EXPORT carom-targets NAMESPACE carom:: DESTINATION ${carom_package_dir})
configure_package_config_file(cmake/carom-config.cmake.in "${PROJECT_BINARY_DIR}/generated/carom-config.cmake"
  INSTALL_DESTINATION ${carom_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/generated/carom-config.cmake" "${PROJECT_BINARY_DIR}/generated/carom-config-version.cmake"
  DESTINATION ${carom_package_dir})
