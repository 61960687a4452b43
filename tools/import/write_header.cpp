// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "write_header.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

namespace ago::importer {

std::string written_layer(item const& i);

namespace {

constexpr std::size_t line_length = 110;

/// A name for a comment. A trailing backslash would continue the comment on the next line, and characters that change
/// the writing direction would make code look like a comment.
std::string comment_text(std::string const& name) {
  std::string r = onnx::printable(name);
  for (char& c : r)
    if (c < ' ' || c > '~' || c == '\\' || c == '?') c = '.';
  return r;
}

std::string written(sequence const& s);

std::string written(item const& i) {
  switch (i.kind) {
    case item_kind::layer:
    case item_kind::block: return written_layer(i);
    case item_kind::residual: return "residual{" + written(i.branches[0]) + "}";
    case item_kind::repeated: return "repeat{" + std::to_string(i.times) + ", " + written(i.branches[0]) + "}";
    default: break;
  }
  std::string r;
  for (sequence const& b : i.branches) {
    if (i.kind == item_kind::joined) r += (r.empty() ? "concat(" : ", ") + written(b);
    else
      r += (r.empty()                  ? ""
            : i.kind == item_kind::sum ? " + "
                                       : " * ") +
           (b.empty() ? "identity{}" : "(" + written(b) + ")");
  }
  return i.kind == item_kind::joined ? r + ")" : "(" + r + ")";
}

std::string written(sequence const& s) {
  std::string r;
  for (item const& i : s) r += (r.empty() ? "" : " | ") + written(i);
  return r;
}

/// Breaks a line that would be too long before `|`, or after a comma.
class line_writer {
 public:
  line_writer(std::ostream& out, std::string indent) : out_(out), indent_(std::move(indent)) {}

  void begin(std::string const& text) { line_ = text; }
  void add(std::string const& separator, std::string const& text, std::string const& comment = {}) {
    if (line_.size() + separator.size() + text.size() > line_length && !separator.empty()) flush(indent_ + "| ");
    else line_ += separator;
    if (comment_.empty()) comment_ = comment;
    line_ += text;
    while (line_.size() > line_length && cut()) {}
  }
  void end(std::string const& text) {
    line_ += text;
    flush("");
  }

 private:
  /// False if there is no place for a break.
  bool cut() {
    std::size_t const at = line_.rfind(" | ", line_length);
    if (at == std::string::npos || at < indent_.size() + 4) return false;
    std::string const next = line_.substr(at + 1);
    line_.resize(at);
    flush(indent_ + "  " + next);
    return true;
  }
  void flush(std::string const& next) {
    out_ << line_;
    if (!comment_.empty() && line_.size() + comment_.size() + 5 <= line_length + 10) out_ << "  // " << comment_;
    out_ << '\n';
    comment_.clear();
    line_ = next;
  }

  std::ostream& out_;
  std::string indent_, line_, comment_;
};

void write_sequence(std::ostream& out, std::string const& indent, std::string const& begin, sequence const& s,
                    bool comments) {
  line_writer w(out, indent);
  w.begin(begin);
  bool first = begin.ends_with(' ');
  for (item const& i : s) {
    w.add(first ? "" : " | ", written(i), comments ? comment_text(i.origin) : std::string());
    first = false;
  }
  w.end(";");
}

/// Compilers warn about a + b | f without parentheses, although its meaning is as intended.
std::string written_head(statement const& s) {
  bool const is_infix = s.head.find(' ') < s.head.find_first_of("({");
  return is_infix && !s.items.empty() ? "(" + s.head + ")" : s.head;
}

void write_statement(std::ostream& out, statement const& s, bool comments) {
  std::string const type = s.name.starts_with('[') ? "auto" : "tensor";
  write_sequence(out, "     ", "  " + type + " const " + s.name + " = " + written_head(s), s.items, comments);
}

std::string written(std::vector<argument> const& parameters) {
  std::string r;
  for (argument const& p : parameters) r += (r.empty() ? "" : ", ") + p.type + " " + p.field;
  return r;
}

void write_blocks(std::ostream& out, std::vector<block> const& blocks) {
  for (block const& b : blocks) {
    out << "/// " << b.uses << " times.\nconstexpr auto " << b.name << "(" << written(b.parameters) << ") {\n";
    write_sequence(out, "       ", "  return ", b.body, false);
    out << "}\n\n";
  }
}

void write_steps(std::ostream& out, std::vector<step_function> const& steps) {
  for (step_function const& f : steps) {
    out << "/// " << f.uses << " times.\nconstexpr auto " << f.name << "(" << written(f.parameters) << ") {\n";
    for (statement const& s : f.body) write_statement(out, s, false);
    std::string results;
    for (std::string const& name : f.results) results += (results.empty() ? "" : ", ") + name;
    std::size_t const count = f.results.size();
    if (count > 1) results = "tensor_list<" + std::to_string(count) + ">{{" + results + "}}";
    out << "  return " << results << ";\n}\n\n";
  }
}

std::string written(input const& in) {
  std::string r;
  auto const add = [&](char const* field, int value) {
    if (value != 1) r += (r.empty() ? "" : ", ") + (std::string(field) + " = " + std::to_string(value));
  };
  add(".n", in.n);
  add(".h", in.h);
  add(".w", in.w);
  add(".c", in.c);
  if (in.layout == ago::layout::nchw) r += (r.empty() ? "" : ", ") + std::string(".layout = layout::nchw");
  return "input{" + r + "}";
}

std::string written(port const& p) {
  std::string r = comment_text(p.name) + " [";
  for (std::size_t i = 0; i < p.dims.size(); ++i) r += (i ? ", " : "") + std::to_string(p.dims[i]);
  return r + "]";
}

void write_ports(std::ostream& out, char const* title, std::vector<port> const& ports) {
  out << "// " << title << ": ";
  std::size_t column = 14;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    std::string const text = written(ports[i]) + (i + 1 < ports.size() ? ", " : ".");
    if (column + text.size() > line_length) out << "\n//   ", column = 5;
    out << text;
    column += text.size();
  }
  out << '\n';
}

/// Whether a layer has one of some names.
bool uses(program_text const& t, std::set<std::string> const& names) {
  bool r = false;
  std::function<void(sequence const&)> const look = [&](sequence const& s) {
    for (item const& i : s) {
      r = r || names.count(i.name) != 0;
      for (sequence const& b : i.branches) look(b);
    }
  };
  auto const look_at = [&](statement const& s) {
    look(s.items);
    r = r || names.count(s.head.substr(0, s.head.find_first_of("{("))) != 0;
  };
  for (statement const& s : t.statements) look_at(s);
  for (block const& b : t.blocks) look(b.body);
  for (step_function const& f : t.steps)
    for (statement const& s : f.body) look_at(s);
  return r;
}

/// The headers that a network needs.
std::string headers_of(program_text const& t) {
  static std::set<std::string> const operators{
      "conv3d",  "conv_transpose3d", "max_pool3d",      "max_pool3d_index", "avg_pool3d",       "lp_pool3d",  "col2im",
      "hardmax", "triangle",         "take_along_axis", "gather_nd",        "reverse_sequence", "grid_sample"};
  std::string r = uses(t, {"map"}) ? "#include <ago/ago.hpp>\n" : "#include <ago/network/network.hpp>\n";
  return uses(t, operators) ? r + "#include <ago/operators.hpp>\n" : r;
}

void write_network(std::ostream& out, program_text const& t) {
  bool const chain = t.statements.size() == 1 && t.inputs.size() == 1 && t.output_names.size() == 1 &&
                     t.statements[0].head == t.input_names[0] && t.statements[0].items.size() <= 40;
  if (chain) {
    out << "inline constexpr auto network =\n";
    write_sequence(out, "  ", "    " + written(t.inputs[0]), t.statements[0].items, true);
    return;
  }
  std::string parameters, results;
  for (std::string const& name : t.input_names)
    parameters += (parameters.empty() ? "tensor" : ", tensor") + (name.empty() ? "" : " " + name);
  for (std::string const& name : t.output_names) results += (results.empty() ? "" : ", ") + name;
  out << "inline constexpr auto network = trace([](" << parameters << ") {\n";
  for (statement const& s : t.statements) write_statement(out, s, true);
  out << "  return " << (t.output_names.size() > 1 ? "outputs(" + results + ")" : results) << ";\n}";
  for (input const& in : t.inputs) out << ", " << written(in);
  out << ");\n";
}

}  // namespace

program_text written_text(lowered_model const& lowered) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lowered.inputs.size(); ++i)
    names.push_back(lowered.inputs.size() == 1 ? "x" : "in" + std::to_string(i + 1));
  program_text text = structured(lowered.network, names);
  factor(text);
  factor_steps(text);
  return text;
}

void write_header(std::ostream& out, program_text const& t, header_of const& about) {
  std::ostringstream body;
  write_blocks(body, t.blocks);
  write_steps(body, t.steps);
  write_network(body, t);
  out << "// Imported from " << comment_text(about.source) << " by ago-import; " << t.weights.size()
      << " weights are in " << about.name << ".weights, in the order of the layers.\n";
  write_ports(out, "Inputs", about.inputs);
  write_ports(out, "Outputs", about.outputs);
  out << "#pragma once\n\n"
      << headers_of(t) << "\nnamespace " << about.name << " {\n\nusing namespace ago;\n\n"
      << body.str() << "\n}  // namespace " << about.name << "\n";
}

}  // namespace ago::importer
