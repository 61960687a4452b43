# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_test(<name> SOURCES <file>... [LIBRARIES <target>...] [TIMEOUT <seconds>] [PORTABLE]
#          [PATHS] [UNOPTIMISED])
#
# Adds the executable test_<name>, with doctest's main, and registers it with CTest under the label of its folder in
# tests/.
# PORTABLE: built for any processor; the others are built for this machine's processor if AGO_NATIVE is on.
# UNOPTIMISED: compiled with -O0, because optimising its many programs would take longer than it saves. With
# AGO_TEST_FULL they are optimised as well, since the optimiser could make one of two equal kernels round differently.
# PATHS: defines AGO_SOURCE_DIR, the folder of the sources, and AGO_SHARED_DEFAULT, where shared material may be.
set(AGO_TESTS_DIR ${CMAKE_CURRENT_SOURCE_DIR})

# Precompiles headers for a target, unless there is a compiler cache, which keeps the objects of only one set of them.
function(ago_precompile target)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

function(ago_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PORTABLE;PATHS;UNOPTIMISED" "TIMEOUT" "SOURCES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "ago_test(${name}): SOURCES is missing, or an argument is unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE ago::ago ago_test_main ${arg_LIBRARIES}
    $<IF:$<BOOL:${arg_PORTABLE}>,ago_warnings,ago_development>)
  target_include_directories(test_${name} PRIVATE ${AGO_TESTS_DIR} ${ago_SOURCE_DIR}/examples)
  if(arg_UNOPTIMISED AND NOT AGO_TEST_FULL)
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  if(AGO_TEST_FULL)
    target_compile_definitions(test_${name} PRIVATE AGO_TEST_FULL)
  endif()
  if(arg_PATHS)
    target_compile_definitions(test_${name} PRIVATE
      AGO_SOURCE_DIR="${ago_SOURCE_DIR}" AGO_SHARED_DEFAULT="${ago_SOURCE_DIR}/../shared")
  endif()
  add_test(NAME ${name} COMMAND test_${name})

  file(RELATIVE_PATH folder ${AGO_TESTS_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" label "${folder}")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${arg_TIMEOUT})
endfunction()
