# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_embed(<target> <symbol> <file>)
#
# Links the bytes of <file> into <target>, read-only, aligned to 64 bytes, seen by no other executable or shared library,
# and rebuilds when the file changes.
# In C++ they are
#
#   extern "C" unsigned char const <symbol>[], <symbol>_end[];   // _end is one past the last byte
#
# The assembler copies the file, so that the compiler never sees its bytes: weights of any size cost no compile time.
# The directive stands in a C++ file, because an assembler file would make every user enable the language ASM.

function(ago_embed target symbol file)
  if(NOT symbol MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "ago_embed: \"${symbol}\" is not a name that C++ could declare")
  endif()
  get_filename_component(file "${file}" ABSOLUTE)
  get_source_file_property(generated "${file}" GENERATED)
  if(NOT EXISTS "${file}" AND NOT generated)
    message(FATAL_ERROR "ago_embed: there is no file ${file}")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/ago_embed/${target}/${symbol}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoEmbed.cpp.in ${source} @ONLY)
  target_sources(${target} PRIVATE ${source})
  # Link-time optimisation does not see symbols that the assembler defines.
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
    OBJECT_DEPENDS "${file}" COMPILE_OPTIONS -fno-lto
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
