# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_test(<name> SOURCES <file>... [LIBRARIES <target>...] [TIMEOUT <seconds>] [PORTABLE] [PATHS]
#          [OPTIMISED] [KERNELS] [OWN_FLAGS])
#
# Adds the executable test_<name>, with doctest's main, and registers it with CTest under the label of its folder in
# tests/. The presets' tests are built without optimisation, which would take longer than it saves, but for two kinds:
# OPTIMISED: runs for longer than the optimiser does.
# KERNELS: optimised with AGO_TEST_FULL, since the optimiser could make one of two equal kernels round differently.
#
# PORTABLE: built for any processor; the others are built for this machine's processor if AGO_NATIVE is on.
# PATHS: defines AGO_SOURCE_DIR, the folder of the sources, and AGO_SHARED_DEFAULT, where shared material may be.
# OWN_FLAGS: its sources have flags or macros of their own, for which the headers of all tests are not precompiled.
set(AGO_TESTS_DIR ${CMAKE_CURRENT_SOURCE_DIR})
set(ago_sanitized OFF)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(ago_sanitized ON)
endif()

# Are the flags of this build those of -O0? Compilers do not use headers that were precompiled with other ones.
set(ago_unoptimised OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_FLAGS_DEBUG MATCHES "-O0")
  set(ago_unoptimised ON)
endif()

# What tests include, precompiled once: for any processor, for this machine's, and for this machine's with all of ago;
# each also for the tests that are optimised, if the others are not.
function(ago_precompile_for_tests name kind)
  file(CONFIGURE OUTPUT precompiled.cpp CONTENT "")
  set(variants ${name})
  if(ago_unoptimised)
    list(APPEND variants ${name}_optimised)
  endif()
  foreach(variant IN LISTS variants)
    add_library(ago_precompiled_${variant} OBJECT EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(ago_precompiled_${variant} PRIVATE ago::ago doctest::doctest ${kind})
    ago_precompile(ago_precompiled_${variant} <algorithm> <cmath> <random> <sstream> <string> <vector>
      <doctest/doctest.h> ${ARGN})
  endforeach()
  if(ago_unoptimised)
    target_compile_options(ago_precompiled_${name}_optimised PRIVATE ${ago_optimised})
  endif()
endfunction()
ago_precompile_for_tests(portable ago_warnings)
ago_precompile_for_tests(native ago_development <xsimd/xsimd.hpp>)
ago_precompile_for_tests(whole ago_development <ago/ago.hpp>)

function(ago_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PORTABLE;PATHS;OPTIMISED;KERNELS;OWN_FLAGS" "TIMEOUT" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "ago_test(${name}): SOURCES is missing, or an argument is unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  file(RELATIVE_PATH folder ${AGO_TESTS_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" label "${folder}")
  if(arg_PORTABLE)
    set(kind ago_warnings)
    set(headers portable)
  else()
    set(kind ago_development)
    set(headers native)
    if(label MATCHES "^(runtime|networks|layers|learning|live|tuner|differential)$")
      set(headers whole)
    endif()
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ago::ago ago_test_main ${arg_LIBRARIES} ${kind})
  target_include_directories(test_${name} PRIVATE ${AGO_TESTS_DIR} ${ago_SOURCE_DIR}/examples)
  if(arg_OPTIMISED OR (arg_KERNELS AND AGO_TEST_FULL AND NOT ago_sanitized))
    target_compile_options(test_${name} PRIVATE ${ago_optimised})
    if(ago_unoptimised)
      string(APPEND headers _optimised)
    endif()
    # AVX-512's own header has variables without a value, which simd/avx512.hpp permits for as long as it is not
    # precompiled. Examples, and the tests for other processors, still show uninitialised variables.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT arg_OWN_FLAGS)
      target_compile_options(test_${name} PRIVATE -Wno-uninitialized -Wno-maybe-uninitialized)
    endif()
  endif()
  if(NOT arg_OWN_FLAGS)
    ago_precompile(test_${name} REUSE_FROM ago_precompiled_${headers})
  endif()
  if(AGO_TEST_FULL)
    target_compile_definitions(test_${name} PRIVATE AGO_TEST_FULL)
  endif()
  if(arg_PATHS)
    target_compile_definitions(test_${name} PRIVATE
      AGO_SOURCE_DIR="${ago_SOURCE_DIR}" AGO_SHARED_DEFAULT="${ago_SOURCE_DIR}/../shared")
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${arg_TIMEOUT})
endfunction()
