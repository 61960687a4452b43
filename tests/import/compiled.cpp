// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers of random models, also under names used elsewhere: they compile without warnings, are recorded in the order
// of their text, and compute what ONNX defines. AGO_IMPORT_RANDOM=N takes N models instead of the few by default.
#include "import/expression.hpp"
#include "import/lowering.hpp"
#include "import/names.hpp"
#include "import/write_header.hpp"
#include "random_model.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace fs = std::filesystem;
using namespace ago::importer;
using ago_test::random_model;

namespace {

constexpr int in_one_program = 40;

/// Unfortunate names of files: names from C++, the C library, macros of its headers, ago, and generated headers.
constexpr char const* hostile_names =
    "time index signal log log2 y0 y1 j0 gamma linux unix errno NULL EOF stdin stdout assert main class namespace "
    "template int register typeid import module and xor ago std tensor input output network model program graph shape "
    "axis layout padding extent2 same pads sampling rounding math op node relu conv2d linear pad scale bias slice "
    "concat matmul maximum minimum power residual repeat identity sum product trace outputs map reshape x x1 x2 in1 "
    "in2 out y c w h n read write open close select poll pipe link remove rename system abort exit signbit isnan "
    "INFINITY NAN I EXIT_SUCCESS INT_MAX SIGINT SIG_IGN ECHO B0 PI E M_PI stat socket bind listen accept connect "
    "send recv getenv random rand div abs round trunc truncate remainder environ stack_t size_t ptrdiff_t FILE DIR "
    "swap_t swin_t bert resnet__v2 _net __linux__ __x86_64__ __FILE__ _Bool _ block block2 kernel stride detail "
    "union signed far near min max TRUE FALSE NDEBUG DEBUG string vector array complex wait alarm pause sleep tee "
    "dup sync leaf ENTER FIND group passwd tm timezone daylight tzname optarg signgam sigset sin tan expf lgammaf_r";

std::vector<std::string> words_of(std::string const& text) {
  std::istringstream words(text);
  std::vector<std::string> r;
  for (std::string word; words >> word;) r.push_back(word);
  return r;
}

/// The names in a header's code, without comments.
std::set<std::string> identifiers_of(std::string const& header) {
  std::set<std::string> r;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.find("//"), line.size()));
    if (line.starts_with('#') || line.starts_with("}") || line.starts_with("namespace")) continue;
    for (char& c : line)
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = ' ';
    for (std::string const& word : words_of(line))
      if (!std::isdigit(static_cast<unsigned char>(word[0]))) r.insert(word);
  }
  return r;
}

std::string usable(std::string const& name) { return owner_of(name) ? free_name(name) : name; }

/// A folder with a program that consists of headers.
class program_folder {
 public:
  program_folder() { fs::create_directories(path_); }
  ~program_folder() { fs::remove_all(path_); }

  fs::path file(std::string const& name) const { return path_ / name; }

  void write(std::string const& name, std::string const& text) const { std::ofstream(file(name)) << text; }
  template <class Numbers>
  void write_numbers(std::string const& name, Numbers const& numbers) const {
    std::ofstream out(file(name), std::ios::binary);
    for (auto const x : numbers) {
      float const y = float(x);
      out.write(reinterpret_cast<char const*>(&y), sizeof y);
    }
  }
  std::string text_of(std::string const& name) const {
    std::ostringstream r;
    r << std::ifstream(file(name)).rdbuf();
    return r.str();
  }

  /// The errors of the compiler or, if there are none, of the program.
  std::string complaint(std::string const& main) const {
    write("main.cpp", main);
    std::string const log = " 2> " + file("log").string();
    std::string const compile = std::string(AGO_COMPILER) +
                                " -std=gnu++20 -O0 -Wall -Wextra -Wpedantic -Werror -I " AGO_SOURCE_DIR "/include -I " +
                                AGO_SOURCE_DIR "/tests " + file("main.cpp").string() + " -o " + file("main").string();
    if (std::system((compile + log).c_str()) != 0) return text_of("log").substr(0, 4000);
    if (std::system((file("main").string() + " " + path_.string() + log).c_str()) != 0) return text_of("log");
    return "";
  }

 private:
  fs::path path_ = fs::temp_directory_path() / ("ago_compiled_" + std::to_string(std::random_device()()));
};

std::string header_of_model(lowered_model const& m, program_text const& text, std::string const& name) {
  std::ostringstream out;
  write_header(out, text, {name, "random", m.inputs, m.outputs});
  return out.str();
}

/// All C and POSIX headers come first, as in a program that needs them.
std::string other_headers() {
  std::string r;
  for (std::string const& name : words_of(
           "assert ctype errno fenv float inttypes limits locale math setjmp signal stdarg stddef stdio stdlib string "
           "time wchar wctype dirent fcntl ftw glob grp netdb netinet/in poll pthread pwd regex sched search "
           "semaphore spawn strings sys/mman sys/resource sys/select sys/socket sys/stat sys/time sys/types sys/wait "
           "syslog termios unistd"))
    r += "#if __has_include(<" + name + ".h>)\n#include <" + name + ".h>\n#endif\n";
  return r;
}

constexpr char const* comparison = R"(
#include "reference/executor.hpp"
#include "reference/functions.hpp"

#include <ago/network/check.hpp>
#include <ago/simd/map.hpp>

#include <cstdio>
#include <fstream>
#include <string>

std::vector<float> read_floats(std::string const& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  std::vector<float> r(std::size_t(in.tellg()) / sizeof(float));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(r.data()), std::streamsize(r.size() * sizeof(float)));
  return r;
}

/// 1 if the graph's result is not the stored one.
int differs(char const* name, std::string const& files, reference::graph_view const& graph) {
  std::vector<std::vector<float>> inputs;
  for (int i = 0; i < graph.input_count; ++i) inputs.push_back(read_floats(files + ".in" + std::to_string(i)));
  auto const outputs = reference::run(graph, read_floats(files + ".weights"), inputs);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    std::vector<float> const expected = read_floats(files + ".out" + std::to_string(k));
    double largest = 1e-3;
    for (float x : expected) largest = std::max(largest, std::fabs(double(x)));
    for (std::size_t i = 0; i < expected.size() || i < outputs[k].size(); ++i) {
      bool const both = i < expected.size() && i < outputs[k].size();
      if (both && std::fabs(outputs[k][i] - double(expected[i])) <= 1e-4 * largest) continue;
      std::fprintf(stderr, "%s: output %d differs at %d: %g, not %g\n", name, int(k), int(i),
                   both ? outputs[k][i] : 0, both ? double(expected[i]) : 0);
      return 1;
    }
  }
  return 0;
}

)";
/// Whether a graph has these nodes, in this order, apart from identities, of which the text has more.
constexpr char const* has_nodes = R"(
#include <initializer_list>

constexpr bool has_nodes(auto const& graph, std::initializer_list<int> kinds, std::initializer_list<int> edges) {
  int place[1000] = {}, nodes = 0, operands = 0;
  for (int v = 0; v < graph.node_count; ++v) {
    ago::ir::node const& n = graph.nodes[v];
    bool const stays = n.kind != ago::op::identity;
    place[v] = stays ? nodes : place[graph.operand(v)];
    if (!stays) continue;
    if (nodes == int(kinds.size()) || int(n.kind) != kinds.begin()[nodes++]) return false;
    for (int k = 0; k < n.input_count; ++k)
      if (operands == int(edges.size()) || place[graph.operand(v, k)] != edges.begin()[operands++]) return false;
  }
  return nodes == int(kinds.size()) && operands == int(edges.size());
}
)";

/// That the header's network is recorded as the calls are in the order of the text.
std::string recorded_alike(std::string const& name, program_text const& text, call_list const& network) {
  call_list const ordered = in_order_of(text, network);
  ago::tracing::recorder made;
  record(ordered, made);
  std::string kinds, edges;
  std::vector<int> place;
  for (int v = 0, count = 0; v < made.nodes.size; ++v) {
    ago::ir::node const& n = made.nodes[v];
    bool const stays = n.kind != ago::op::identity;
    place.push_back(stays ? count++ : place[std::size_t(made.edges[n.input_first])]);
    if (stays) kinds += (kinds.empty() ? "" : ",") + std::to_string(int(n.kind));
    for (int k = 0; stays && k < n.input_count; ++k)
      edges += (edges.empty() ? "" : ",") + std::to_string(place[std::size_t(made.edges[n.input_first + k])]);
  }
  return "static_assert(has_nodes(ago::lowering::lowered<" + name + "::network>::value, {" + kinds + "}, {" + edges +
         "}));\n";
}

constexpr char const* main_begin = R"(
int main(int, char** arguments) {
  reference::define_functions();
  std::string const folder = arguments[1];
  int bad = 0;
)";

/// A program with the models of these seeds.
void check_models(unsigned first, unsigned count) {
  program_folder const folder;
  std::vector<std::string> const names = words_of(hostile_names);
  std::set<std::string> used, tried;
  std::string includes, checks, calls;
  auto const add_header = [&](std::string const& name, std::string const& header) {
    folder.write(name + ".hpp", header);
    includes += "#include \"" + name + ".hpp\"\n";
    checks += "static_assert(ago::lowering::check<" + name + "::network>::ok);\n";
    used.insert(name);
  };
  for (unsigned seed = first; seed < first + count; ++seed) {
    CAPTURE(seed);
    random_model const made(seed);
    lowered_model const lowered = lower(made.net.load());
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < lowered.inputs.size(); ++i)
      inputs.push_back(lowered.inputs.size() == 1 ? "x" : "in" + std::to_string(i + 1));
    program_text text = structured(lowered.network, inputs);
    factor(text);
    factor_steps(text);
    std::string const number = std::to_string(seed), name = "net" + number;
    std::string const header = header_of_model(lowered, text, name);
    add_header(name, header);
    checks += recorded_alike(name, text, lowered.network);
    // A name that occurs in the header's code must be refused or cause no harm.
    std::set<std::string> words = identifiers_of(header);
    words.insert(names[seed % names.size()]);
    for (std::string const& word : words)
      if (std::string const other = usable(word); tried.insert(word).second && !used.count(other))
        add_header(other, header_of_model(lowered, text, other));
    folder.write_numbers(number + ".weights", text.weights);
    for (std::size_t i = 0; i < made.inputs.size(); ++i)
      folder.write_numbers(number + ".in" + std::to_string(i), made.values[std::size_t(made.inputs[i])].numbers);
    for (std::size_t i = 0; i < made.outputs.size(); ++i)
      folder.write_numbers(number + ".out" + std::to_string(i), made.values[std::size_t(made.outputs[i])].numbers);
    // The plain loops do not support users' functions.
    if (header.find("map{") == std::string::npos)
      calls += "  bad += differs(\"" + name + "\", folder + \"/" + number + "\", ago::lowering::lowered<" + name +
               "::network>::value);\n";
  }
  for (std::string const& name : names)
    if (std::string const other = usable(name); !used.count(other))
      checks += "namespace " + other + " { using namespace ago; }\n", used.insert(other);
  CHECK(folder.complaint(other_headers() + includes + comparison + has_nodes + checks + main_begin + calls +
                         "  return bad;\n}\n") == "");
}

/// An LSTM in both directions, whose steps are calls of one function.
ago_test::network steps() {
  ago_test::network net(14);
  net.input("x", {5, 2, 3});
  net.constant("w", {2, 16, 3}, ago_test::floats(96, .5f)).constant("r", {2, 16, 4}, ago_test::floats(128, .25f));
  net.constant("p", {2, 12}, ago_test::floats(24, 1.f));
  net.node("LSTM", {"x", "w", "r", "", "", "", "", "p"}, {"y"}).set("direction", "bidirectional");
  net.output("y");
  return net;
}

}  // namespace

TEST_CASE("functions of steps are recorded as the steps are") {
  lowered_model const lowered = lower(steps().load());
  program_text const text = written_text(lowered);
  REQUIRE(text.steps.size() == 1);
  CHECK(text.steps[0].uses == 6);
  program_folder const folder;
  folder.write("net.hpp", header_of_model(lowered, text, "net"));
  CHECK(folder.complaint("#include \"net.hpp\"\n#include <ago/network/check.hpp>\n" + std::string(has_nodes) +
                         recorded_alike("net", text, lowered.network) + "int main() {}\n") == "");
}

TEST_CASE("headers of random models compile under any name, and compute what ONNX defines") {
  char const* const wanted = std::getenv("AGO_IMPORT_RANDOM");
  unsigned const count = wanted ? unsigned(std::atoi(wanted)) : in_one_program;
  for (unsigned first = 0; first < count; first += in_one_program)
    check_models(first, std::min<unsigned>(in_one_program, count - first));
}
