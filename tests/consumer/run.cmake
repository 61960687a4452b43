# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and runs an application in one WAY, from nothing. Arguments: WAY CACHE GENERATOR AGO_SOURCE AGO_BUILD WORK
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Configures, builds and runs the project in a folder; further arguments are CMake's.
function(run_project folder)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} -DWAY=${WAY} -DCMAKE_PREFIX_PATH=${prefix} ${ARGN}
    -S ${here}/${folder} -B ${WORK}/${folder})
  run(${CMAKE_COMMAND} --build ${WORK}/${folder})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/${folder} --output-on-failure --no-tests=error)
endfunction()

# What is installed below a folder, but files of the given form.
function(expect_only folder form)
  file(GLOB_RECURSE files RELATIVE ${folder} ${folder}/*)
  set(strangers ${files})
  list(FILTER strangers EXCLUDE REGEX "^(${form})$")
  if(strangers OR NOT files)
    message(FATAL_ERROR "installed into ${folder}: ${files}, of which should not be there: ${strangers}")
  endif()
endfunction()

set(here ${CMAKE_CURRENT_LIST_DIR})
set(prefix ${WORK}/prefix)
set(edges -DEDGES=${AGO_SOURCE}/examples/import/edges.onnx)
set(headers "include/ago/.*\\.hpp|share/cmake/ago/[^/]*\\.(cmake|cpp\\.in)|share/cmake/ago/toolchains/[^/]*\\.cmake")
set(tools "bin/ago-(weights|import|inspect)")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

if(WAY STREQUAL "find_package")
  # Nothing is built, so the tools that are compiled are left out. Installed in one place, used in another: packages are
  # moved when they are packed.
  run(${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} -DAGO_BUILD_TESTS=OFF -DAGO_BUILD_EXAMPLES=OFF -DAGO_BUILD_BENCH=OFF
    -S ${AGO_SOURCE} -B ${WORK}/ago)
  run(${CMAKE_COMMAND} --install ${WORK}/ago --prefix ${WORK}/installed)
  expect_only(${WORK}/installed "${headers}|bin/ago-weights")
  file(RENAME ${WORK}/installed ${prefix})
elseif(WAY MATCHES "dependent_library|without_xsimd|unoptimised|installed_importer")
  run(${CMAKE_COMMAND} --install ${AGO_BUILD} --prefix ${prefix} --component dev)
  expect_only(${prefix} "${headers}")
endif()

if(WAY STREQUAL "without_xsimd")
  # As in a cross toolchain: packages are searched for in its own folders only.
  execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -Dago_DIR=${prefix}/share/cmake/ago
    -DCMAKE_FIND_ROOT_PATH=${prefix} -DCMAKE_FIND_ROOT_PATH_MODE_PACKAGE=ONLY -S ${here}/${WAY} -B ${WORK}/${WAY}
    RESULT_VARIABLE result ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(REGEX MATCHALL "CMake (Error|Warning)" messages "${output}")
  list(LENGTH messages count)
  if(result EQUAL 0 OR NOT output MATCHES "libxsimd-dev.*-Dxsimd_DIR=" OR NOT count EQUAL 1)
    message(FATAL_ERROR "exit code ${result}, ${count} messages: ${output}")
  endif()
elseif(WAY STREQUAL "unoptimised")
  # The number of warnings that CMake prints in a configuration of the project with these arguments.
  function(expect_warnings expected)
    execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} ${ARGN} -S ${here}/${WAY} -B ${WORK}/${WAY}
      ERROR_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    string(REGEX MATCHALL "no CMAKE_BUILD_TYPE is set" found "${output}")
    list(LENGTH found count)
    if(NOT count EQUAL expected)
      message(FATAL_ERROR "${count} warnings instead of ${expected} with ${ARGN}: ${output}")
    endif()
  endfunction()
  set(installed -Dago_DIR=${prefix}/share/cmake/ago)
  expect_warnings(1 ${installed} -DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=)
  expect_warnings(0 ${installed} -DLATE=Release)
  expect_warnings(0 ${installed} -ULATE -DCMAKE_CXX_FLAGS=-O2)
  expect_warnings(0 ${installed} -DCMAKE_CXX_FLAGS= -DCMAKE_BUILD_TYPE=Debug)
  expect_warnings(1 -DAGO_SOURCE_DIR=${AGO_SOURCE} -DCMAKE_BUILD_TYPE=)
elseif(WAY STREQUAL "installed_importer")
  run(${CMAKE_COMMAND} --install ${AGO_BUILD} --prefix ${WORK}/tools --component tools)
  expect_only(${WORK}/tools "${tools}")
  file(COPY ${WORK}/tools/bin DESTINATION ${prefix})
  run_project(imported ${edges})
elseif(WAY STREQUAL "host_importer")
  # First the real tool, which is only configured, and then one that is built in a second.
  execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} ${edges} -S ${here}/imported -B ${WORK}/configured
    RESULT_VARIABLE result ERROR_VARIABLE output)
  if(NOT result EQUAL 0 AND NOT output MATCHES "not built: .*scripts/setup --with tools.*ago-import cannot be built")
    message(FATAL_ERROR "${output}")
  endif()
  file(COPY ${AGO_SOURCE}/CMakeLists.txt ${AGO_SOURCE}/cmake ${AGO_SOURCE}/include DESTINATION ${WORK}/ago)
  file(COPY ${here}/importer/ DESTINATION ${WORK}/ago/tools)
  run_project(imported -DAGO_SOURCE_DIR=${WORK}/ago ${edges})
  cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
  file(READ ${WORK}/imported/ago_import/imported/edges.hpp header)
  if(NOT header MATCHES "by a program for ${processor}")
    message(FATAL_ERROR "not built for this machine, ${processor}: ${header}")
  endif()
else()
  if(WAY STREQUAL "dependent_library")
    run(${CMAKE_COMMAND} -G ${GENERATOR} -C ${CACHE} -DCMAKE_PREFIX_PATH=${prefix} -S ${here}/library -B ${WORK}/library)
    run(${CMAKE_COMMAND} --build ${WORK}/library)
    run(${CMAKE_COMMAND} --install ${WORK}/library --prefix ${prefix})
  endif()
  run_project(application)
endif()
