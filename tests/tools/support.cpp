// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared code of the tools: files that are written completely or not at all, misfits and enumerators in words, and text
// from elsewhere that is safe to print on a terminal.
#include <support/child.hpp>
#include <support/diagnostic.hpp>
#include <support/output_file.hpp>
#include <support/printable.hpp>
#include <support/spelling.hpp>
#include <support/temporary_folder.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <new>
#include <random>

namespace {

using namespace ago::tools;
namespace fs = std::filesystem;

/// A temporary folder, removed on destruction.
struct folder {
  fs::path const path = fs::temp_directory_path() / ("ago_support_" + std::to_string(std::random_device{}()));
  folder() { fs::create_directory(path); }
  ~folder() { fs::remove_all(path); }

  std::string content(char const* file) const {
    std::ifstream in(path / file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  auto files() const { return std::distance(fs::directory_iterator(path), {}); }
};

void write_half(std::ostream& out) { out << "half", throw std::bad_alloc(); }

TEST_CASE("a file is written completely or not at all") {
  folder const f;
  std::string const path = f.path / "file";
  write_file(path, [](std::ostream& out) { out << "one"; });
  CHECK(f.content("file") == "one");
  CHECK_THROWS_AS(write_file(path, write_half), std::bad_alloc);
  CHECK(f.content("file") == "one");
  CHECK_THROWS_WITH(write_file(f.path, [](std::ostream&) {}), doctest::Contains("it is a directory"));
  CHECK_THROWS_WITH(write_file(f.path / "missing" / "file", [](std::ostream&) {}),
                    doctest::Contains("No such file or directory"));
  CHECK(f.files() == 1);  // no temporary files
}

TEST_CASE("of several files, all are written or none") {
  folder const f;
  fs::create_directory(f.path / "directory");
  auto const write = [](char const* text) { return [text](std::ostream& out) { out << text; }; };
  std::string const first = f.path / "first", second = f.path / "second";
  write_files({{first, write("1")}, {second, write("2")}});
  CHECK((f.content("first") == "1" && f.content("second") == "2"));
  CHECK_THROWS_AS(write_files({{first, write("3")}, {second, write_half}}), std::bad_alloc);
  CHECK_THROWS_WITH(write_files({{first, write("3")}, {f.path / "directory", write("4")}}),
                    doctest::Contains("it is a directory"));
  CHECK_THROWS_WITH(write_files({{first, write("3")}, {f.path / "missing" / "file", write("4")}}),
                    doctest::Contains("No such file or directory"));
  CHECK((f.content("first") == "1" && f.content("second") == "2"));
  CHECK(f.files() == 3);
}

TEST_CASE("an enumerator in words is as it is spelled, and another value is no word") {
  using ago::ir::fault;
  CHECK(words_of(fault::none) == "none");
  CHECK(words_of(fault::no_gradient_reaches) == "no gradient reaches");
  CHECK(words_of(fault(int(fault::no_gradient_reaches) + 1)) == "?");
  CHECK(words_of(fault(255)) == "?");
}

TEST_CASE("a diagnostic's text contains the numbers that disagree") {
  ago::ir::diagnostic d{.what = ago::ir::fault::bounds_are_reversed, .expected = 3, .actual = 2};
  CHECK(text_of(d) == "bounds are reversed (expects 3, gets 2)");
  d = {.what = ago::ir::fault::expression_does_not_fit};
  d.described = {.what = ago::expression::fault::rank_differs, .operand = 1, .expected = 4, .actual = 3};
  CHECK(text_of(d) == "expression does not fit: rank differs, operand 1 (expects 4, gets 3)");
}

TEST_CASE("control characters are escaped, and printable text is left alone") {
  for (std::string const text : {"", "conv1/weight", "a \\ \"b\" <c>", "größe", "層", "🙂", "الف"})
    CHECK(printable(text) == text);
  CHECK(printable(std::string_view("\x1b[31mred\a\b\0", 11)) == "\\x1b[31mred\\x07\\x08\\x00");
  CHECK(printable("a\nb\tc\rd\x7f") == "a\\nb\\tc\\rd\\x7f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");  // CSI as one character
  CHECK(printable("abc\xe2\x80\xaegpj.exe\xe2\x81\xa6") == "abc\\u202egpj.exe\\u2066");
  CHECK(printable("\xe2\x80\x8f\xd8\x9c\xef\xbb\xbf\xe2\x80\xa8") == "\\u200f\\u061c\\ufeff\\u2028");
  CHECK(printable("\xf3\xa0\x81\x81") == "\\U000e0041");
  CHECK(printable_lines("one\ntwo\x1b") == "one\ntwo\\x1b");
}

TEST_CASE("bytes that are not UTF-8 are escaped one by one") {
  CHECK(printable("\x80 \xff") == "\\x80 \\xff");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // an overlong encoding of /
  CHECK(printable("\xe0\x82\x9b") == "\\xe0\\x82\\x9b");  // and of CSI
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(printable("\xe2\x80") == "\\xe2\\x80");  // truncated
  CHECK(printable("\xe2\x80z") == "\\xe2\\x80z");
  for (int byte = 0x80; byte < 0x100; ++byte) CHECK(printable(std::string(1, char(byte))).size() == 4);
}

TEST_CASE("a program gets its words as they are, and its output goes to files") {
  temporary_folder const f("ago_support");
  std::string const out = (f.path() / "out").string(), err = (f.path() / "err").string();
  auto const content = [](std::string const& path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(run_program({"printf", "%s,", "a b", "$(c)", "'\"d;"}, out) == 0);
  CHECK(content(out) == "a b,$(c),'\"d;,");
  CHECK(run_program({"sh", "-c", "echo one; echo two >&2; exit 7"}, out, err) == 7);
  CHECK((content(out) == "one\n" && content(err) == "two\n"));
  CHECK(run_program({"sh", "-c", "echo one; echo two >&2; echo three"}, out, out) == 0);
  CHECK(content(out) == "one\ntwo\nthree\n");
  CHECK(run_program({"sh", "-c", "kill -INT $$"}, out) == 128 + 2);  // although this program ignores it meanwhile
  CHECK_THROWS_AS(run_program({"no-such-program"}, out), not_started);
  CHECK_THROWS_WITH(run_program({"true"}, (f.path() / "none" / "out").string()), doctest::Contains("cannot write"));
}

TEST_CASE("a temporary folder is removed with its content, unless it is kept") {
  fs::path removed, kept;
  {
    temporary_folder one("ago_support"), other("ago_support");
    removed = one.path(), kept = other.path();
    CHECK(removed != kept);
    for (fs::path const& path : {removed, kept}) std::ofstream(path / "file") << "text";
    other.keep();
  }
  CHECK((!fs::exists(removed) && fs::exists(kept / "file")));
  fs::remove_all(kept);
}

}  // namespace
