# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(ago) gives the target ago::ago and the functions ago_embed(), ago_add_tuner() and ago_import().
include(CMakeFindDependencyMacro)
if(NOT TARGET xsimd)
  find_dependency(xsimd)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/ago-targets.cmake)

# Only xsimd's headers, not its target: Debian's package asks for -lxtl, which does not exist and is not needed.
get_target_property(ago_xsimd_headers xsimd INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(ago::ago SYSTEM INTERFACE "${ago_xsimd_headers}")

include(${CMAKE_CURRENT_LIST_DIR}/AgoEmbed.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/AgoTuner.cmake)
get_filename_component(AGO_TOOLS_DIR ${CMAKE_CURRENT_LIST_DIR}/../../../bin ABSOLUTE)
include(${CMAKE_CURRENT_LIST_DIR}/AgoImport.cmake)
