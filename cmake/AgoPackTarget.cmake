# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes a HEADER with the instruction set for which the OBJECT of AgoPackTarget.cpp.in was compiled.
file(STRINGS "${OBJECT}" found REGEX "ago::isa\\([0-9]\\)")
if(NOT found MATCHES "ago::isa\\([0-9]\\)")
  message(FATAL_ERROR "ago_pack: cannot find the instruction set in ${OBJECT}; specify it with ISA")
endif()
file(WRITE "${HEADER}" "inline constexpr auto ago_pack_target = ${CMAKE_MATCH_0};\n")
