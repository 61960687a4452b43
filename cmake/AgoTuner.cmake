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
#
# <file> may be one that the build makes: a relative path is looked for in the source folder, else in the binary folder,
# so that for a model that ago_import(app yolo.onnx) imports, in whichever order and folder the two are called,
#
#   ago_add_tuner(tune_yolo HEADER ago_import/app/yolo.hpp NETWORK yolo::network)
#
# waits for the import. So it does for the OUTPUT of a custom command in the same folder. For one in another folder say
# here that the header has the source file property GENERATED, and add_dependencies(tune_yolo <target that makes it>).

function(ago_add_tuner target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NETWORK;OPTIONS;THREADS" "")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_HEADER OR NOT arg_NETWORK)
    message(FATAL_ERROR "ago_add_tuner(${target}): HEADER or NETWORK missing, or unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(header "${arg_HEADER}" ABSOLUTE)
  if(NOT EXISTS "${header}")
    get_filename_component(header "${arg_HEADER}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  set(network "${arg_NETWORK}")
  set(options "${arg_OPTIONS}")
  if(arg_THREADS)
    set(options "ago::with_threads({${arg_OPTIONS}}, ${arg_THREADS})")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/ago_tuner)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoTuner.cpp.in ${folder}/${target}.cpp @ONLY)
  add_executable(${target} ${folder}/${target}.cpp)
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE ago::ago Threads::Threads)

  # The flags, for the banner of the header, so that its readers know what was measured. In a file, since a definition on
  # the command line would not stand their quotes and backslashes.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  set(flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}} $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
  set(definition "#define AGO_TUNER_FLAGS R\"ago_flags($<JOIN:${flags}, >)ago_flags\"\n")
  file(GENERATE OUTPUT ${folder}/$<CONFIG>/${target}.$<COMPILE_LANGUAGE>.hpp CONTENT "${definition}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/$<CONFIG>)

  # What makes the header may be known only when all folders have been read.
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL
    _ago_find_header [[${target}]] [[${header}]] [[${arg_HEADER}]] [[${CMAKE_CURRENT_SOURCE_DIR}]])")
endfunction()

# Makes <target> wait for its <header>, given as <words> in <folder>.
function(_ago_find_header target header words folder)
  get_property(maker GLOBAL PROPERTY "ago_maker_of_${header}")
  get_source_file_property(generated "${header}" DIRECTORY "${folder}" GENERATED)
  if(maker)
    add_dependencies(${target} ${maker})
  elseif(generated)
    target_sources(${target} PRIVATE "${header}")
  elseif(NOT EXISTS "${header}")
    message(FATAL_ERROR "ago_add_tuner(${target}): there is no file ${words}, and nothing that makes it")
  endif()
endfunction()
