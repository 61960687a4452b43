# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fails if the stripped executable PROGRAM is larger than LIMIT bytes.
file(SIZE "${PROGRAM}" bytes)
message("${bytes} bytes, of ${LIMIT}")
if(bytes GREATER LIMIT)
  message(FATAL_ERROR "${PROGRAM} is too large")
endif()
