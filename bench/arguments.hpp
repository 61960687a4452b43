// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command line of bench/networks.
#pragma once

#include "command_line.hpp"

#include <charconv>
#include <vector>

namespace bench {

/// At least a megabyte.
inline std::size_t to_bytes(std::string const& name, std::string const& text) {
  std::size_t bytes = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || end != text.data() + text.size() || bytes < 1 << 20)
    throw std::invalid_argument(name + " needs a number of bytes from 1048576, not '" + text + "'");
  return bytes;
}

/// Words separated by commas.
inline std::vector<std::string> to_words(std::string const& name, std::string const& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    words.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (words.back().empty())
      throw std::invalid_argument(name + " needs names separated by commas, not '" + text + "'");
  }
  return words;
}

struct arguments : common_arguments {
  std::string network = "all";
  std::vector<std::string> variants;  ///< names; empty: all
  std::optional<int> size;            ///< side of the image in pixels, or tokens; none: all
  bool peers = false;
  std::optional<std::string> onnxruntime;  ///< folder with node_modules; none: see find_onnxruntime
  std::optional<std::string> profile;      ///< the variant whose steps are timed
  int threads = 1;
  int placements = 1;
  bool contend = false;
  std::optional<std::size_t> contend_bytes;  ///< none: see streaming_bytes

  template <std::invocable Next>
  bool take(std::string const& name, Next const& next) {
    if (name == "--peers") {
      peers = true;
    } else if (name == "--onnxruntime") {
      peers = true;
      onnxruntime = next();
    } else if (name == "--profile") {
      profile = "ago";
    } else if (name.starts_with("--profile=")) {
      profile = name.substr(name.find('=') + 1);
    } else if (name == "--network") {
      network = next();
    } else if (name == "--size") {
      std::string const text = next();
      if (text == "all") size.reset();
      else size = to_number(name, text, 1);
    } else if (name == "--variants") {
      variants = to_words(name, next());
    } else if (name == "--placements") {
      placements = to_number(name, next(), 1);
    } else if (name == "--threads") {
      threads = to_number(name, next(), 1);
    } else if (name == "--contend") {
      contend = true;
    } else if (name.starts_with("--contend=")) {
      contend = true;
      contend_bytes = to_bytes("--contend", name.substr(name.find('=') + 1));
    } else {
      return common_arguments::take(name, next);
    }
    return true;
  }
};

inline constexpr char usage[] =
    "usage: networks [--network NAME|all] [--size N|all] [--variants NAME,...] [--peers] [--onnxruntime FOLDER]\n"
    "                [--profile[=VARIANT]] [--json] [--repetitions N] [--threads N] [--core N] [--contend[=BYTES]]\n"
    "                [--placements N]\n"
    "  --size         side of the image in pixels, or tokens\n"
    "  --variants     only these ways of compiling a network; all others are compared with the first\n"
    "  --peers        also run the other engines that are installed, and compare results and times\n"
    "  --onnxruntime  likewise; FOLDER contains node_modules with onnxruntime-node (default: the environment variable\n"
    "                 AGO_ONNXRUNTIME, or else where scripts/setup --with peers puts it)\n"
    "  --threads      threads of the other engines; ago's are those of its variants (default 1)\n"
    "  --profile      instead time every step of a variant (default ago): its share, rate and bytes\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate, in random order (default 60)\n"
    "  --placements   divide these runs among so many places in memory of ago's variants (default 1)\n"
    "  --core         pin to this core and request the real-time class\n"
    "  --contend      meanwhile another core repeatedly reads and writes a buffer of BYTES (default: four times the\n"
    "                 last-level cache) from end to end; without --core the last core is measured\n";

}  // namespace bench
