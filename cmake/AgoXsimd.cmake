# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_find_xsimd()
#
# Sets ago_xsimd_headers to the folder of xsimd's headers: that of the target xsimd if this project already has one, or
# else that of the installed package. If there is neither, sets ago_xsimd_missing to a message that says what to do.
# A nested build for the build machine gets AGO_XSIMD_HEADERS instead: see AgoHost.cmake.
#
# Only the headers are used, not xsimd's target: Debian's package links -lxtl, which does not exist and is not needed.
macro(ago_find_xsimd)
  set(ago_xsimd_missing "")
  set(ago_xsimd_headers "${AGO_XSIMD_HEADERS}")
  if(NOT ago_xsimd_headers)
    if(NOT TARGET xsimd)
      find_package(xsimd QUIET)
    endif()
    if(NOT TARGET xsimd)
      # A cross toolchain finds packages only in its own folders, but xsimd is header-only, so any machine's will do.
      file(GLOB ago_xsimd_package LIST_DIRECTORIES true /usr/lib/*/cmake/xsimd /usr/lib/cmake/xsimd
        /usr/share/cmake/xsimd /usr/local/lib/cmake/xsimd)
      list(APPEND ago_xsimd_package "<folder of xsimdConfig.cmake>")
      list(GET ago_xsimd_package 0 ago_xsimd_package)
      string(CONCAT ago_xsimd_missing "ago needs xsimd 8.1 or newer, but CMake did not find it. Install it (Debian: "
        "libxsimd-dev; vcpkg, Conan, Homebrew: xsimd), or set its location: -Dxsimd_DIR=${ago_xsimd_package}")
    elseif(xsimd_VERSION AND xsimd_VERSION VERSION_LESS 8.1)
      string(CONCAT ago_xsimd_missing "ago needs xsimd 8.1 or newer, but ${xsimd_DIR} is xsimd ${xsimd_VERSION}. "
        "Install a newer one, or set its location: -Dxsimd_DIR=<folder of xsimdConfig.cmake>")
    else()
      get_target_property(ago_xsimd_headers xsimd INTERFACE_INCLUDE_DIRECTORIES)
    endif()
  endif()
endmacro()
