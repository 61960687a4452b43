# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs that run during a build, and are therefore built for the build machine, even in a cross build.
#
# ago_host_program(<variable> <name> SOURCE <folder> [ARGUMENTS <-D...>...])
#
# Configures the CMake project in <folder> immediately, for the build machine, and adds the target ago_host_<name>,
# which builds that project's target <name> if something depends on it, and rebuilds it after changes. Sets <variable>
# to the path of the executable. A custom command that runs it must DEPEND on both ago_host_<name> and the path. The
# project gets the include folders AGO_HEADERS and AGO_XSIMD_HEADERS, and <ARGUMENTS>. It is optimised, and does not
# inherit the outer project's flags. The compiler is the outer project's; in a cross build it is AGO_HOST_CXX_COMPILER,
# or else the one that CMake finds on the build machine.
function(ago_host_program variable name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SOURCE" "ARGUMENTS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCE)
    message(FATAL_ERROR "ago_host_program(${name}): SOURCE is missing, or an argument is unknown: "
      "${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(build ${CMAKE_BINARY_DIR}/ago_host/${name})
  set(executable ${build}/bin/${name})
  set(${variable} ${executable} PARENT_SCOPE)
  if(TARGET ago_host_${name})
    return()
  endif()

  get_property(headers GLOBAL PROPERTY AGO_HEADERS)
  get_property(xsimd_headers GLOBAL PROPERTY AGO_XSIMD_HEADERS)
  # Only xsimd: its folder may also contain the C library of the target machine.
  file(MAKE_DIRECTORY ${build}/xsimd_headers)
  string(REGEX MATCHALL "/[^;:<>$]+" folders "${xsimd_headers}")  # without generator expressions
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/xsimd/xsimd.hpp)
      file(CREATE_LINK ${folder}/xsimd ${build}/xsimd_headers/xsimd SYMBOLIC)
    endif()
  endforeach()

  if(NOT CMAKE_CROSSCOMPILING)
    set(environment)
    set(compiler ${CMAKE_CXX_COMPILER})
  else()
    # In environments of cross compilers these variables are meant for the target machine.
    set(environment ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS --unset=CPPFLAGS
      --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE)
    set(compiler ${AGO_HOST_CXX_COMPILER})
  endif()
  set(arguments)
  if(compiler)
    list(APPEND arguments -DCMAKE_CXX_COMPILER=${compiler})
  endif()
  if(CMAKE_MAKE_PROGRAM)
    list(APPEND arguments -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM})
  endif()
  execute_process(
    COMMAND ${environment} ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S ${arg_SOURCE} -B ${build} ${arguments}
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
      -DCMAKE_RUNTIME_OUTPUT_DIRECTORY_RELEASE=${build}/bin -DAGO_HEADERS=${headers}
      -DAGO_XSIMD_HEADERS=${build}/xsimd_headers ${arg_ARGUMENTS}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name}, which runs during the build, cannot be built for this machine:\n${output}")
  endif()
  add_custom_target(ago_host_${name} BYPRODUCTS ${executable}
    COMMAND ${environment} ${CMAKE_COMMAND} --build ${build} --config Release --target ${name}
    COMMENT "Building ${name} for this machine" VERBATIM USES_TERMINAL)
endfunction()

# ago_host_tool(<command> <dependencies> <name>)
#
# Sets <command> to one of ago's tools, for example ago-import, in the form in which a custom command can run it on the
# build machine, and <dependencies> to the dependencies of that command. The tool is the first of these that exists:
# AGO_IMPORT_EXECUTABLE; the target ago-import of ago's own build; one built from ago's sources, if this project
# contains them through add_subdirectory() or FetchContent; an installed one.
function(ago_host_tool command dependencies name)
  string(REGEX REPLACE "^ago-" "AGO_" variable "${name}_EXECUTABLE")
  string(TOUPPER ${variable} variable)
  get_filename_component(sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.. ABSOLUTE)
  if(NOT ${variable})
    if(TARGET ${name} AND NOT CMAKE_CROSSCOMPILING)
      set(${command} ${name} PARENT_SCOPE)
      set(${dependencies} ${name} PARENT_SCOPE)
      return()
    endif()
    if(EXISTS ${sources}/tools/import/CMakeLists.txt)
      ago_host_program(executable ${name} SOURCE ${sources} ARGUMENTS -DAGO_BUILD_TOOLS=ON -DAGO_REQUIRED_TOOLS=${name}
        -DAGO_BUILD_TESTS=OFF -DAGO_BUILD_EXAMPLES=OFF -DAGO_BUILD_BENCH=OFF -DAGO_INSTALL=OFF -DAGO_NATIVE=OFF)
      set(${command} ${executable} PARENT_SCOPE)
      set(${dependencies} ago_host_${name} ${executable} PARENT_SCOPE)
      return()
    endif()
  endif()
  # Next to this package first; in a cross build last, because a program there may be for the target machine.
  set(order HINTS)
  if(CMAKE_CROSSCOMPILING)
    set(order PATHS)
  endif()
  find_program(${variable} ${name} ${order} ${sources}/../../bin DOC "The program ${name}, for the build machine"
    NO_CMAKE_FIND_ROOT_PATH)
  if(NOT ${variable})
    message(FATAL_ERROR "The program ${name} was not found. Install ago with its tools, or set ${variable} to its path.")
  endif()
  set(${command} ${${variable}} PARENT_SCOPE)
  set(${dependencies} ${${variable}} PARENT_SCOPE)
endfunction()
