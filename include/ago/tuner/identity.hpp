// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a log must have in common with the search that continues it.
#pragma once

#include <ago/tuner/compiler.hpp>
#include <ago/tuner/generator.hpp>
#include <ago/tuner/log.hpp>
#include <ago/tuner/settings.hpp>
#include <ago/tuner/share.hpp>
#include <ago/tuner/subject.hpp>
#include <ago/version.hpp>

#include <string>

namespace ago::tuner {

inline std::string version_text() { return print("%d.%d.%d", version.major, version.minor, version.patch); }

/// Changes with the choices and their options, since a log of other choices has another meaning.
inline std::string fingerprint(problem const& p) {
  std::uint64_t h = 0;
  auto const mix = [&h](std::string const& text) {
    for (char const c : text + '\n') h = generator(h ^ static_cast<unsigned char>(c))();
  };
  for (choice const& c : p.choices()) {
    mix(c.name);
    for (std::string const& option : c.options) mix(option);
  }
  return print("%016llx", static_cast<unsigned long long>(h));
}

/// "ago", "ago, share 2 of 3", or "ago, 3 shares" if so many are combined.
inline std::string variant_text(settings const& s, std::size_t combined = 0) {
  std::string const name = name_of(s.what), share = text_of(s.share);
  if (combined > 0) return name + print(", %zu shares", combined);
  return share.empty() ? name : name + ", " + share;
}

inline identity identity_of(subject const& what, settings const& s, std::string const& device,
                            std::size_t combined = 0) {
  return {{"ago", version_text()},
          {"network", what.network()},
          {"instruction set", what.instruction_set()},
          {"search space", fingerprint(what)},
          {"compiler", compiler()},
          {"compiler flags", compiler_flags()},
          {"device", device},
          {"method", name_of(s.how)},
          {"variant", variant_text(s, combined)},
          {"seed", std::to_string(s.seed)}};
}

}  // namespace ago::tuner
