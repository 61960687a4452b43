// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include "model_file.hpp"
#include "timing_program.hpp"
#include "toolchain.hpp"

#include "../support/child.hpp"
#include "../support/output_file.hpp"
#include "../support/printable.hpp"
#include "../support/temporary_folder.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ago::tools {
namespace {

namespace fs = std::filesystem;

std::string content_of(fs::path const& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(text).str();
}

/// The first lines of a file, indented.
std::string beginning_of(fs::path const& file) {
  constexpr int most = 12;
  std::ifstream in(file);
  std::string text;
  int count = 0;
  for (std::string line; std::getline(in, line) && ++count <= most;) text += "\n  " + line;
  return count > most ? text + "\n  ..." : text;
}

void report(std::string const& what) { std::cerr << "ago-inspect: " << printable(what) << std::endl; }

/// Keeps the files for the user.
[[noreturn]] void fail(std::string const& what, temporary_folder& folder, std::string const& more = {}) {
  folder.keep();
  throw std::runtime_error(what + "; its files remain in " + folder.path().string() + more);
}

/// Throws if a child did not end well.
void check(int status, std::string const& what, temporary_folder& folder, fs::path const& said = {}) {
  if (status == 0) return;
  if (status == 128 + SIGINT || status == 128 + SIGQUIT) throw std::runtime_error("interrupted");
  fail(what + (status > 128 ? std::string(" was ended by a signal: ") + strsignal(status - 128)
                            : " failed with exit status " + std::to_string(status)),
       folder, said.empty() ? "" : beginning_of(said));
}

/// Writes the program and its header; the name of the network for messages.
std::string write_sources(arguments const& a, fs::path const& folder) {
  auto const write = [&](char const* name, std::string_view text) {
    write_file((folder / name).string(), [&](std::ostream& out) { out << text; });
  };
  if (a.network) {
    write("network.hpp", a.network->header);
    write("timing.cpp", timing_program(a.network->variable + '<' + std::to_string(a.size) + '>', a.ways));
    return a.network->name + ' ' + std::to_string(a.size);
  }
  std::string const name = "inspected_network";
  write("network.hpp", header_of_model(a.model, name));
  write("timing.cpp", timing_program(name + "::network", a.ways));
  return a.model.file.filename().string();
}

}  // namespace

void measure(arguments const& a, std::vector<inspection>& all) {
  measuring const& how = *a.measure;
  isa const target = a.ways.front().target;
  std::vector<std::string> command = compiler_words(how.compiler);
  command.insert(command.end(), {"-std=c++20", "-O3"});
  for (std::string const& flag : flags_for(target)) command.push_back(flag);
  std::string shown;
  for (std::string const& word : command) shown += (shown.empty() ? "" : " ") + word;
  for (std::string const& include : header_folders(how.includes)) command.push_back("-I" + include);

  temporary_folder folder("ago-inspect");
  std::string const name = write_sources(a, folder.path());
  fs::path const program = folder.path() / "timing", log = folder.path() / "compiler.log",
                 times = folder.path() / "times.json";
  command.insert(command.end(), {program.string() + ".cpp", "-o", program.string()});
  report("compiling " + name + " for " + name_of(target) + " with " + shown);
  auto const start = std::chrono::steady_clock::now();
  check(run_program(command, log.string(), log.string()), "the compiler", folder, log);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", seconds);
  report(std::string("compiled in ") + text + " s; " + std::to_string(how.repetitions) + " runs");

  std::vector<std::string> words{program.string(), std::to_string(how.repetitions)};
  if (how.core) words.push_back(std::to_string(*how.core));
  check(run_program(words, times.string()), "the compiled program", folder);
  try {
    enter_times(all, content_of(times));
  } catch (std::runtime_error const& e) { fail(e.what(), folder); }
}

}  // namespace ago::tools
