# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_add_tuner(<target> HEADER <file> NETWORK <expression> [OPTIONS <expression>] [THREADS <count>])
#
# The executable <target>, which finds the best schedules for a network on the machine it runs on, and writes them into a
# header: see docs/tuning.md. <file> defines the network that <expression> names, for instance
#
#   ago_add_tuner(tune_classifier HEADER classifier.hpp NETWORK my::classifier OPTIONS "ago::cortex_a76")
#
# OPTIONS are the last argument of ago::model, THREADS how many shall compute one inference (docs/threads.md). Compile it
# as the network will be compiled, optimised and for the same instruction set: what is measured is the code that ships.

function(ago_add_tuner target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NETWORK;OPTIONS;THREADS" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_HEADER OR NOT arg_NETWORK)
    message(FATAL_ERROR "ago_add_tuner(${target}): HEADER or NETWORK missing, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(header "${arg_HEADER}" ABSOLUTE)
  get_source_file_property(generated "${header}" GENERATED)
  if(NOT EXISTS "${header}" AND NOT generated)
    message(FATAL_ERROR "ago_add_tuner(${target}): there is no file ${header}")
  endif()
  set(network "${arg_NETWORK}")
  set(options "${arg_OPTIONS}")
  if(arg_THREADS)
    set(options "ago::with_threads({${arg_OPTIONS}}, ${arg_THREADS})")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/ago_tuner/${target}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoTuner.cpp.in ${source} @ONLY)
  add_executable(${target} ${source})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE ago::ago Threads::Threads)
  # For the banner of the header, so that its readers know what was measured.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}}" flags)
  string(REPLACE "\"" "'" flags "${flags}")
  target_compile_definitions(${target} PRIVATE
    "AGO_TUNER_FLAGS=\"${flags} $<JOIN:$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>, >\"")
endfunction()
