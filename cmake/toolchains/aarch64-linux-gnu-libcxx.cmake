# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# 64-bit Arm Linux with Clang and libc++, as on Android; programs run under QEMU. No libc++ for that processor is
# needed: the headers are the same for all processors, and a program that neither throws nor uses streams calls only
# library functions that the cross g++'s libsupc++ provides.
include(${CMAKE_CURRENT_LIST_DIR}/aarch64-linux-gnu.cmake)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_FLAGS_INIT "-stdlib=libc++ -fno-exceptions '-D_LIBCPP_VERBOSE_ABORT(...)=__builtin_abort()'")
set(CMAKE_EXE_LINKER_FLAGS_INIT -nostdlib++)
set(CMAKE_CXX_STANDARD_LIBRARIES "-lsupc++ -lm")
