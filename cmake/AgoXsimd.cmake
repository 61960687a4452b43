# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_find_xsimd()
#
# Sets ago_xsimd_headers to the folder of xsimd's headers, of the target xsimd where this project has one already, or
# else of its package; where there is none, ago_xsimd_missing to a sentence that says what to do.
# A build for the host inside another one is given AGO_XSIMD_HEADERS instead: see AgoHost.cmake.
#
# Only the headers are used, not xsimd's target: Debian's package asks for -lxtl, which does not exist and is not needed.
macro(ago_find_xsimd)
  set(ago_xsimd_missing "")
  set(ago_xsimd_headers "${AGO_XSIMD_HEADERS}")
  if(NOT ago_xsimd_headers)
    if(NOT TARGET xsimd)
      find_package(xsimd QUIET)
    endif()
    if(NOT TARGET xsimd)
      # A toolchain looks for packages in its own folders only, but xsimd is headers: any machine's will do.
      file(GLOB ago_xsimd_package LIST_DIRECTORIES true /usr/lib/*/cmake/xsimd /usr/lib/cmake/xsimd
        /usr/share/cmake/xsimd /usr/local/lib/cmake/xsimd)
      list(APPEND ago_xsimd_package "<folder of xsimdConfig.cmake>")
      list(GET ago_xsimd_package 0 ago_xsimd_package)
      string(CONCAT ago_xsimd_missing "ago needs xsimd 8.1 or newer, and CMake does not find it. Install it (Debian: "
        "libxsimd-dev; vcpkg, Conan, Homebrew: xsimd), or say where it is: -Dxsimd_DIR=${ago_xsimd_package}")
    elseif(xsimd_VERSION AND xsimd_VERSION VERSION_LESS 8.1)
      string(CONCAT ago_xsimd_missing "ago needs xsimd 8.1 or newer, and ${xsimd_DIR} is xsimd ${xsimd_VERSION}: "
        "install a newer one, or say where it is: -Dxsimd_DIR=<folder of xsimdConfig.cmake>")
    else()
      get_target_property(ago_xsimd_headers xsimd INTERFACE_INCLUDE_DIRECTORIES)
    endif()
  endif()
endmacro()
