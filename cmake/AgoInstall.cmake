# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs headers and the CMake package. Nothing in it depends on the architecture, so it goes to share/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/ago)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ago-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS ago EXPORT ago-targets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ago-targets NAMESPACE ago:: DESTINATION ${package_dir})
install(FILES
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/ago-config.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoEmbed.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoEmbed.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoTuner.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoTuner.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoImport.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ago-config-version.cmake
  DESTINATION ${package_dir})
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/ago DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/tools/weights.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME ago-weights)
