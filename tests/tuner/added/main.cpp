// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <edges.hpp>

int main() { return sizeof edges::network == 0; }
