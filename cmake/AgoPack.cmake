# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_pack(<target> NETWORK <expression> WEIGHTS <file> [HEADER <file>...] [NAME <name>] [SCHEDULES <expression>]
#          [OPTIONS <expression>] [ISA <instruction set>])
#
# Packs the weights of a network when <target> is built, and links them into it, read-only. <target> then packs nothing
# at run time, contains no plan for packing, and holds its weights only once: see docs/weights.md. For example, after
#
#   ago_pack(app NETWORK my::classifier WEIGHTS classifier.weights)
#
# <target> can use
#
#   #include "classifier.hpp"
#   #include <classifier_weights.hpp>
#   static ago::model<my::classifier, ago::untuned, ago::packed> net{classifier_weights};
#
# HEADER defines the names in the expressions (default: the network's last name, with .hpp). NAME is the name of the
# weights and of their header (default: the network's last name, with _weights). SCHEDULES and OPTIONS are the model's.
# The weights are packed for the instruction set that <target>'s own options allow, or for ISA, an enumerator of
# ago::isa. Weights that do not fit the model they are passed to do not compile.
#
# The packing program runs on the build machine, whatever <target> is for. In a cross build AGO_HOST_CXX_COMPILER
# compiles it.

# Sets <variable> to a compiler for the build machine. Any will do; its flags are not used, as they may be for another
# machine.
function(ago_pack_compiler variable target)
  set(compiler ${AGO_HOST_CXX_COMPILER})
  if(CMAKE_CROSSCOMPILING)
    find_program(AGO_HOST_CXX_COMPILER NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH
      DOC "The C++ compiler for the build machine")
    set(compiler ${AGO_HOST_CXX_COMPILER})
    if(NOT compiler)
      message(FATAL_ERROR "ago_pack(${target}): no C++ compiler for this machine; set AGO_HOST_CXX_COMPILER")
    endif()
  elseif(NOT compiler)
    set(compiler ${CMAKE_CXX_COMPILER})
  endif()
  set(${variable} ${compiler} PARENT_SCOPE)
endfunction()

# Generates <header>, which names the instruction set that the weights <name> of <target> are packed for: <isa>, or if
# it is empty the one that an object compiled with the options of <target> reports.
function(ago_pack_target header target name isa)
  if(isa)
    file(CONFIGURE OUTPUT ${header} CONTENT "inline constexpr auto ago_pack_target = ago::isa::${isa};\n")
    return()
  endif()
  get_filename_component(directory ${header} DIRECTORY)
  set(probe ${target}_${name}_isa)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoPackTarget.cpp.in ${directory}/target.cpp COPYONLY)
  add_library(${probe} OBJECT ${directory}/target.cpp)
  target_link_libraries(${probe} PRIVATE ago::ago)
  target_compile_options(${probe} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> -fno-lto)
  set_target_properties(${probe} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} "-DOBJECT=$<TARGET_OBJECTS:${probe}>" -DHEADER=${header}
      -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoPackTarget.cmake
    DEPENDS ${probe} $<TARGET_OBJECTS:${probe}>
    VERBATIM)
endfunction()

function(ago_pack target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NETWORK;WEIGHTS;NAME;SCHEDULES;OPTIONS;ISA" "HEADER")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NETWORK OR NOT arg_WEIGHTS)
    message(FATAL_ERROR "ago_pack(${target}): NETWORK or WEIGHTS is missing, or an argument is unknown: "
      "${arg_UNPARSED_ARGUMENTS}")
  endif()
  string(REGEX REPLACE ".*::" "" last_name "${arg_NETWORK}")
  if(NOT arg_NAME)
    set(arg_NAME ${last_name}_weights)
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "ago_pack(${target}): \"${arg_NAME}\" is not a valid C++ identifier")
  endif()
  if(NOT arg_HEADER)
    set(arg_HEADER ${last_name}.hpp)
  endif()
  if(NOT arg_SCHEDULES)
    set(arg_SCHEDULES ago::untuned)
  endif()
  set(inputs)
  set(headers "")
  foreach(input IN LISTS arg_HEADER arg_WEIGHTS)
    get_filename_component(path "${input}" ABSOLUTE)
    get_source_file_property(generated "${path}" GENERATED)
    if(NOT EXISTS "${path}" AND NOT generated)
      message(FATAL_ERROR "ago_pack(${target}): ${path} does not exist")
    endif()
    list(APPEND inputs "${path}")
    if(input IN_LIST arg_HEADER)
      string(APPEND headers "#include \"${path}\"\n")
    endif()
  endforeach()
  get_filename_component(weights "${arg_WEIGHTS}" ABSOLUTE)

  ago_pack_compiler(compiler ${target})

  set(directory ${CMAKE_CURRENT_BINARY_DIR}/ago_pack/${target}/${arg_NAME})
  set(include_directory ${CMAKE_CURRENT_BINARY_DIR}/ago_pack/${target}/include)
  file(MAKE_DIRECTORY ${directory} ${include_directory})

  set(target_header ${directory}/target.hpp)
  ago_pack_target(${target_header} ${target} ${arg_NAME} "${arg_ISA}")

  set(source ${directory}/pack.cpp)
  set(packer ${directory}/pack${CMAKE_HOST_EXECUTABLE_SUFFIX})
  set(network "${arg_NETWORK}")
  set(schedules "${arg_SCHEDULES}")
  set(options "${arg_OPTIONS}")
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoPack.cpp.in ${source} @ONLY)
  set(include_directories "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>;$<TARGET_PROPERTY:ago::ago,INTERFACE_INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  # -idirafter, because /usr/include may be among them.
  add_custom_command(OUTPUT ${packer}
    COMMAND ${compiler} -std=c++20 -O1 -MD -MF ${packer}.d -MT ${packer}
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      -idirafter "$<JOIN:$<REMOVE_DUPLICATES:${include_directories}>,;-idirafter;>" ${source} -o ${packer}
    DEPENDS ${source} ${target_header} ${inputs} DEPFILE ${packer}.d
    COMMENT "Compiling the packing program of ${arg_NETWORK}"
    COMMAND_EXPAND_LISTS VERBATIM)

  set(packed ${directory}/${arg_NAME}.packed)
  set(header ${include_directory}/${arg_NAME}.hpp)
  add_custom_command(OUTPUT ${packed} ${header}
    COMMAND ${packer} ${weights} ${packed} ${header} ${arg_NAME}
    DEPENDS ${packer} ${weights}
    COMMENT "Packing the weights of ${arg_NETWORK}"
    VERBATIM)
  set_source_files_properties(${packed} PROPERTIES GENERATED ON)
  target_sources(${target} PRIVATE ${header} ${packed})
  target_include_directories(${target} PRIVATE ${include_directory})
  ago_embed(${target} ${arg_NAME}_file ${packed})
endfunction()
