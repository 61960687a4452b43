# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Two programs print the same. Arguments: ONE OTHER (commands)
foreach(program IN ITEMS ONE OTHER)
  execute_process(COMMAND ${${program}} OUTPUT_VARIABLE output_${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
if(output_ONE STREQUAL "" OR NOT output_ONE STREQUAL output_OTHER)
  message(FATAL_ERROR "${ONE} prints\n${output_ONE}but ${OTHER}\n${output_OTHER}")
endif()
message("${output_ONE}")
