# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and runs the application in one WAY, from nothing. Arguments: WAY CACHE GENERATOR AGO_BUILD WORK
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(here ${CMAKE_CURRENT_LIST_DIR})
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

if(WAY MATCHES "find_package|dependent_library")
  # Installed in one place, used in another: packages are moved when they are packed.
  run(${CMAKE_COMMAND} --install ${AGO_BUILD} --prefix ${WORK}/installed)
  file(RENAME ${WORK}/installed ${prefix})
  file(GLOB_RECURSE strangers RELATIVE ${prefix} ${prefix}/*)
  list(FILTER strangers EXCLUDE REGEX "^(include/ago/.*\\.hpp|bin/ago-(weights|import)|share/cmake/ago/[^/]*\\.(cmake|cpp\\.in))$")
  if(strangers)
    message(FATAL_ERROR "installed, but neither header nor package nor tool: ${strangers}")
  endif()
endif()

if(WAY STREQUAL "dependent_library")
  run(${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} -DCMAKE_PREFIX_PATH=${prefix} -S ${here}/library -B ${WORK}/library)
  run(${CMAKE_COMMAND} --build ${WORK}/library)
  run(${CMAKE_COMMAND} --install ${WORK}/library --prefix ${prefix})
endif()

run(${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} -DWAY=${WAY} -DCMAKE_PREFIX_PATH=${prefix}
  -S ${here}/application -B ${WORK}/application)
run(${CMAKE_COMMAND} --build ${WORK}/application)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/application --output-on-failure --no-tests=error)
