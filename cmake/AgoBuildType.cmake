# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warns of a build without optimisation, CMake's default, in which networks are thousands of times slower. It warns
# once, at the end of the outermost project, which may set a build type after it has found ago, and sets nothing itself.
function(ago_warn_of_build_type)
  get_property(has_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_directory_property(options COMPILE_OPTIONS)
  if(NOT has_configurations AND NOT CMAKE_BUILD_TYPE AND NOT "${CMAKE_CXX_FLAGS};${options}" MATCHES "-O[1-3sgz]")
    message(WARNING "ago: no CMAKE_BUILD_TYPE is set, so nothing is optimised, and networks are thousands of times "
      "slower than they should be. Add -DCMAKE_BUILD_TYPE=Release")
  endif()
endfunction()

get_property(asked GLOBAL PROPERTY AGO_WARNS_OF_BUILD_TYPE)
if(NOT asked)
  set_property(GLOBAL PROPERTY AGO_WARNS_OF_BUILD_TYPE ON)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL ago_warn_of_build_type)
endif()
