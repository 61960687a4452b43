# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# 64-bit Arm Linux with Debian's cross compiler; programs run under QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)

# Debian installs xsimd's CMake package in a folder of the host's architecture, but its headers work for all.
file(GLOB xsimd_packages /usr/lib/*/cmake/xsimd)
if(xsimd_packages)
  list(GET xsimd_packages 0 xsimd_package)
  set(xsimd_DIR ${xsimd_package} CACHE PATH "xsimd's CMake package")
endif()
