# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes a HEADER with the instruction set that the OBJECT of AgoPackTarget.cpp.in has been compiled for.
file(STRINGS "${OBJECT}" found REGEX "ago::isa\\([0-9]\\)")
if(NOT found MATCHES "ago::isa\\([0-9]\\)")
  message(FATAL_ERROR "ago_pack: ${OBJECT} does not say for which instruction set it is; name one by ISA")
endif()
file(WRITE "${HEADER}" "inline constexpr auto ago_pack_target = ${CMAKE_MATCH_0};\n")
