# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# find_package(ago) provides the target ago::ago and the functions ago_embed(), ago_pack(), ago_add_tuner() and
# ago_import().
include(${CMAKE_CURRENT_LIST_DIR}/AgoXsimd.cmake)
ago_find_xsimd()
if(ago_xsimd_missing)
  set(ago_FOUND FALSE)
  set(ago_NOT_FOUND_MESSAGE "${ago_xsimd_missing}")
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/ago-targets.cmake)
get_target_property(ago_headers ago::ago INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(ago::ago SYSTEM INTERFACE "${ago_xsimd_headers}")
set_property(GLOBAL PROPERTY AGO_HEADERS "${ago_headers}")
set_property(GLOBAL PROPERTY AGO_XSIMD_HEADERS "${ago_xsimd_headers}")

include(${CMAKE_CURRENT_LIST_DIR}/AgoBuildType.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/AgoEmbed.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/AgoTuner.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/AgoImport.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/AgoPack.cmake)
