// Imported from model.onnx by ago-import; 395200 weights are in stories260k_llama.weights, in the order of the layers.
// Inputs: tokens [1, 128].
// Outputs: logits [1, 128, 512].
#pragma once

#include <ago/ago.hpp>

namespace stories260k_llama {

using namespace ago;

/// 10 times.
constexpr auto block(int h) {
  return reshape{.h = h, .w = 1, .c = 4096} | expand{.w = 2} | reshape{.h = 256, .w = 4, .c = 8}
       | permute{0, 2, 1, 3} | reshape{.h = 8, .w = 128};
}

/// 10 times.
constexpr auto reshape_slice_negative(int h) {
  return reshape{.h = h, .w = 8, .c = 1} | slice{.begin = 4, .count = 4, .axis = axis::columns} | negative{};
}

/// 5 times.
constexpr auto block2() {
  return rms_norm{} | ((linear{.out = 172, .bias = false} | silu{}) * (linear{.out = 172, .bias = false}))
       | linear{.out = 64, .bias = false};
}

/// 5 times.
constexpr auto permute_reshape_linear() {
  return permute{0, 2, 1, 3} | reshape{.h = 1, .w = 128, .c = 64} | linear{.out = 64, .bias = false};
}

/// 4 times.
constexpr auto step(tensor in1, tensor in2) {
  tensor const x1 = in1 | rms_norm{};
  tensor const x2 = x1 | linear{.out = 64, .bias = false};
  tensor const x3 = x2 | reshape{.h = 128, .w = 8, .c = 8};
  tensor const x4 = in2 | constant{.h = 128, .c = 8};
  tensor const x5 = x1 | linear{.out = 32, .bias = false};
  tensor const x6 = x5 | reshape{.h = 128, .w = 4, .c = 8};
  tensor const x7 = in2 | constant{.h = 128, .c = 8};
  tensor const x8 = x2 | reshape_slice_negative(1024);
  tensor const x9 = x2 | reshape{.h = 1024, .w = 8, .c = 1}
     | slice{.begin = 0, .count = 4, .axis = axis::columns};
  tensor const x10 = x5 | reshape_slice_negative(512);
  tensor const x11 = x5 | reshape{.h = 512, .w = 8, .c = 1}
     | slice{.begin = 0, .count = 4, .axis = axis::columns};
  tensor const x12 = concat(axis::columns, x8, x9) | reshape{.h = 128, .c = 8};
  tensor const x13 = in2 | constant{.h = 128, .c = 8};
  tensor const x14 = concat(axis::columns, x10, x11) | reshape{.h = 128, .w = 4, .c = 8};
  tensor const x15 = in2 | constant{.h = 128, .c = 8};
  tensor const x16 = x3 * x4;
  tensor const x17 = x12 * x13;
  tensor const x18 = x6 * x7;
  tensor const x19 = x14 * x15;
  tensor const x20 = (x16 + x17) | permute{0, 2, 1, 3};
  tensor const x21 = (x18 + x19) | block(1);
  tensor const x22 = matmul(x20, x21, true) | affine{.35355338f};
  tensor const x23 = in2 | constant{.w = 128, .c = 128};
  tensor const x24 = (x22 + x23) | softmax{};
  tensor const x25 = x1 | linear{.out = 32, .bias = false} | block(0);
  tensor const x26 = matmul(x24, x25) | permute_reshape_linear();
  tensor const x27 = (in1 + x26) | residual{block2()};
  return x27;
}

inline constexpr auto network = trace([](tensor x) {
  tensor const x1 = x | map{[](auto x) { return math::where_less(x, decltype(x)(0.f), x + 512.f, x); }}  // x0
     | reshape{.w = 128, .c = 1} | embedding{.entries = 512, .width = 64};  // x0
  tensor const x28 = step(x1, x);
  tensor const x55 = step(x28, x);
  tensor const x82 = step(x55, x);
  tensor const x109 = step(x82, x);
  tensor const x110 = x109 | rms_norm{};  // l4_n1_o
  tensor const x111 = x110 | linear{.out = 64, .bias = false};  // l4_q
  tensor const x112 = x111 | reshape{.h = 128, .w = 8, .c = 8};  // l4_rq_c
  tensor const x113 = x | constant{.h = 128, .c = 8};  // l4_rq_c
  tensor const x114 = x110 | linear{.out = 32, .bias = false};  // l4_k
  tensor const x115 = x114 | reshape{.h = 128, .w = 4, .c = 8};  // l4_rk_c
  tensor const x116 = x | constant{.h = 128, .c = 8};  // l4_rk_c
  tensor const x117 = x111 | reshape_slice_negative(1024);  // l4_rq_hi
  tensor const x118 = x111 | reshape{.h = 1024, .w = 8, .c = 1}  // l4_rq_lo
     | slice{.begin = 0, .count = 4, .axis = axis::columns};  // l4_rq_lo
  tensor const x119 = x114 | reshape_slice_negative(512);  // l4_rk_hi
  tensor const x120 = x114 | reshape{.h = 512, .w = 8, .c = 1}  // l4_rk_lo
     | slice{.begin = 0, .count = 4, .axis = axis::columns};  // l4_rk_lo
  tensor const x121 = concat(axis::columns, x117, x118) | reshape{.h = 128, .c = 8};  // l4_rq_s
  tensor const x122 = x | constant{.h = 128, .c = 8};  // l4_rq_s
  tensor const x123 = concat(axis::columns, x119, x120) | reshape{.h = 128, .w = 4, .c = 8};  // l4_rk_s
  tensor const x124 = x | constant{.h = 128, .c = 8};  // l4_rk_s
  tensor const x125 = x112 * x113;
  tensor const x126 = x121 * x122;
  tensor const x127 = x115 * x116;
  tensor const x128 = x123 * x124;
  tensor const x129 = (x125 + x126) | permute{0, 2, 1, 3};  // l4_qk
  tensor const x130 = (x127 + x128) | block(1);  // l4_kr_x
  tensor const x131 = matmul(x129, x130, true) | affine{.35355338f};  // l4_sc
  tensor const x132 = x | constant{.w = 128, .c = 128};  // l4_mk
  tensor const x133 = (x131 + x132) | softmax{};  // l4_sm
  tensor const x134 = x110 | linear{.out = 32, .bias = false} | block(0);  // l4_v
  tensor const x135 = matmul(x133, x134) | permute_reshape_linear();  // l4_o
  tensor const x136 = (x109 + x135) | residual{block2()} | rms_norm{} | linear{.out = 512, .bias = false};  // l4_res2
  return x136;
}, input{.c = 128});

}  // namespace stories260k_llama
