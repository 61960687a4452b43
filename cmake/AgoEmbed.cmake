# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# ago_embed(<target> <symbol> <file>)
#
# Links the bytes of <file> into <target>, read-only and aligned to 64 bytes, and rebuilds when the file changes. Other
# executables and shared libraries cannot see the symbols. In C++ they are
#
#   extern "C" unsigned char const <symbol>[], <symbol>_end[];   // _end is one past the last byte
#
# The assembler copies the file and the compiler never sees its bytes, so weights of any size cost no compile time.
# The directive is in a C++ file, because an assembler file would require every user to enable the language ASM.

function(ago_embed target symbol file)
  if(NOT symbol MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "ago_embed: \"${symbol}\" is not a valid C++ identifier")
  endif()
  get_filename_component(file "${file}" ABSOLUTE)
  get_source_file_property(generated "${file}" GENERATED)
  if(NOT EXISTS "${file}" AND NOT generated)
    message(FATAL_ERROR "ago_embed: ${file} does not exist")
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/ago_embed/${target}/${symbol}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/AgoEmbed.cpp.in ${source} @ONLY)
  target_sources(${target} PRIVATE ${source})
  # Link-time optimisation does not see symbols that the assembler defines.
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES
    OBJECT_DEPENDS "${file}" COMPILE_OPTIONS -fno-lto
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
