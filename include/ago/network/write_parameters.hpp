// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the table of parameters as JSON, for scripts that create weight blobs.
#pragma once

#include <ago/network/check.hpp>
#include <ago/network/parameters.hpp>

namespace ago {

namespace lowering {

template <class Out>
void write_text(Out& out, char const* text) {
  out << '"';
  for (; *text; ++text) {
    unsigned char const c = static_cast<unsigned char>(*text);
    if (c < ' ') out << "\\u00" << "01"[c / 16] << "0123456789abcdef"[c % 16];
    else out << (c == '"' || c == '\\' ? "\\" : "") << *text;
  }
  out << '"';
}

template <class Out, class Element, class Write>
void write_list(Out& out, Element const* list, int count, char const* between, Write const& write) {
  out << '[';
  for (int i = 0; i < count; ++i) {
    if (i) out << between;
    write(list[i]);
  }
  out << ']';
}

/// Shapes as they are written in C++: images, rows, columns, channels, even if memory is channel-first.
template <class Out>
void write_shape(Out& out, shape const& s, bool channels_first) {
  out << "{\"shape\": [" << s.n << ", " << s.h << ", " << s.w << ", " << s.c
      << "], \"layout\": " << (channels_first ? "\"nchw\"" : "\"nhwc\"") << '}';
}

}  // namespace lowering

/// Writes the inputs and outputs of a network, the length of its weight blob, and a row for each parameter to the
/// stream `out`. A row has name (null: none), role, the operator that uses it, extents, first float, and source line.
template <auto const& Net, class Out>
void write_parameters(Out& out, char const* network) {
  static_assert(lowering::check<Net>::ok);
  auto const& g = lowering::lowered<Net>::value;
  auto const& table = parameters<Net>;
  out << "{\"network\": ";
  lowering::write_text(out, network);
  out << ",\n \"inputs\": ";
  lowering::write_list(out, Net.inputs, g.input_count, ", ", [&](input const& in) {
    lowering::write_shape(out, {in.n, in.h, in.w, in.c}, in.layout == layout::nchw);
  });
  out << ",\n \"outputs\": ";
  lowering::write_list(out, g.outputs, g.output_count, ", ",
                       [&](int v) { lowering::write_shape(out, g.nodes[v].out, g.nodes[v].kind == op::to_nchw); });
  out << ",\n \"floats\": " << g.parameters << ",\n \"rows\": ";
  lowering::write_list(out, table.rows, table.size(), ",\n  ", [&](parameter const& p) {
    out << "{\"name\": ";
    if (p.name) lowering::write_text(out, p.name);
    else out << "null";
    out << ", \"role\": \"" << name_of(p.role) << "\", \"kind\": \"" << name_of(p.kind) << "\", \"dims\": ";
    lowering::write_list(out, p.dims, p.rank, ", ", [&](int extent) { out << extent; });
    out << ", \"offset\": " << p.offset << ", \"line\": " << p.line << '}';
  });
  out << "}\n";
}

}  // namespace ago
