# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the headers and the CMake package as the component dev, and the developer tools that were built as the
# component tools. Nothing in dev depends on the architecture, so the CMake package goes to share/.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/ago)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/ago-config-version.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS ago EXPORT ago-targets COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT ago-targets NAMESPACE ago:: DESTINATION ${package_dir} COMPONENT dev)
install(FILES
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/ago-config.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoBuildType.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoEmbed.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoEmbed.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoHost.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoImport.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoPack.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoPack.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoPackTarget.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoPackTarget.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoTuner.cmake
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoTuner.cpp.in
  ${CMAKE_CURRENT_SOURCE_DIR}/cmake/AgoXsimd.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/ago-config-version.cmake
  DESTINATION ${package_dir} COMPONENT dev)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/cmake/toolchains DESTINATION ${package_dir} COMPONENT dev)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/include/ago DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
  FILES_MATCHING PATTERN "*.hpp")
install(PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/tools/weights.py DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools
  RENAME ago-weights)

# A tool that was not built, because only some targets were, is skipped with a message.
function(ago_install_tool target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools OPTIONAL)
  install(CODE "
    if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
      message(STATUS \"Not built, so not installed: ${target}\")
    endif()" COMPONENT tools)
endfunction()
