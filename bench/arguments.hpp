// The command line of bench/networks.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace bench {

struct arguments {
  std::string network = "all";
  std::optional<int> size;  ///< of the input image; none: all
  bool json = false, peers = false, help = false;
  int repetitions = 60, threads = 1;
  std::optional<int> core;
};

inline constexpr char usage[] =
    "usage: networks [--network NAME|all] [--size PIXELS|all] [--peers] [--json]\n"
    "                [--repetitions N] [--threads 1] [--core N]\n"
    "  --peers        also run the engines found at build time, and compare results and times\n"
    "  --json         one JSON object per line instead of a table\n"
    "  --repetitions  timed runs of every candidate, in random order (default 60)\n"
    "  --core         pin to this core and ask for the real-time class\n";

inline int to_number(std::string const& name, std::string const& text, int least) {
  std::size_t read = 0;
  int number = 0;
  try {
    number = std::stoi(text, &read);
  } catch (std::exception const&) {
  }
  if (read == 0 || read != text.size() || number < least)
    throw std::invalid_argument(name + " needs a number from " + std::to_string(least) + ", not '" + text + "'");
  return number;
}

/// Throws std::invalid_argument with a sentence.
inline arguments parse(int count, char const* const* words) {
  arguments result;
  for (int i = 1; i < count; ++i) {
    std::string const name = words[i];
    auto const next = [&]() -> std::string {
      if (i + 1 == count) throw std::invalid_argument(name + " needs a value");
      return words[++i];
    };
    if (name == "--json") {
      result.json = true;
    } else if (name == "--peers") {
      result.peers = true;
    } else if (name == "--help") {
      result.help = true;
    } else if (name == "--network") {
      result.network = next();
    } else if (name == "--size") {
      std::string const size = next();
      if (size == "all")
        result.size.reset();
      else
        result.size = to_number(name, size, 1);
    } else if (name == "--repetitions") {
      result.repetitions = to_number(name, next(), 1);
    } else if (name == "--threads") {
      result.threads = to_number(name, next(), 1);
    } else if (name == "--core") {
      result.core = to_number(name, next(), 0);
    } else {
      throw std::invalid_argument("unknown argument '" + name + "'");
    }
  }
  return result;
}

}  // namespace bench
