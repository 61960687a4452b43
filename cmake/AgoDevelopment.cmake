# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler flags of ago's own executables; not installed. Link ago_development, or ago_warnings alone for a program that
# must run on any processor.
include(CheckCXXCompilerFlag)

add_library(ago_warnings INTERFACE)
target_compile_options(ago_warnings INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${AGO_WERROR}>:-Werror>)
# g++ then collects garbage less often: a fifth less time for large objects, with up to 1 GB more memory each.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ago_warnings INTERFACE
    "SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=1000000")
endif()

# For what runs for longer than the optimiser does; the presets for tests do not optimise. Clang's -Og is its -O1; g++
# compiles with it in 0.6 to 0.8 of the time of -O1.
set(ago_optimised $<$<CONFIG:Debug>:-Og>)

add_library(ago_development INTERFACE)
target_link_libraries(ago_development INTERFACE ago_warnings)
if(AGO_NATIVE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(native_flag -mcpu=native)
  else()
    set(native_flag -march=native)
  endif()
  check_cxx_compiler_flag(${native_flag} AGO_COMPILER_KNOWS_NATIVE)
  if(AGO_COMPILER_KNOWS_NATIVE)
    # Of processors with AVX10, Clang 19 warns of its own choice of features.
    check_cxx_compiler_flag("${native_flag} -Werror" AGO_NATIVE_IS_ACCEPTED)
    if(NOT AGO_NATIVE_IS_ACCEPTED)
      list(APPEND native_flag -Wno-invalid-feature-combination)
    endif()
    target_compile_options(ago_development INTERFACE ${native_flag})
  endif()
endif()

# Precompiles headers for a target of a build with tests, unless there is a compiler cache, which keeps the objects of
# only one set of them. (Other builds show that no file has forgotten an include.)
function(ago_precompile target)
  if(NOT AGO_BUILD_TESTS OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    return()
  elseif(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()
