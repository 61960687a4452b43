// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A single error for weights, inputs and outputs that do not fit, instead of a list of candidates.
#pragma once

#include <ago/requirements.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>

namespace ago::runtime {

/// Elements of an array, std::array or span; 0: known at run time only, or not a range of floats.
template <class T>
inline constexpr std::size_t extent_of = [] {
  using U = std::remove_cvref_t<T>;
  if constexpr (std::is_array_v<U>) return std::extent_v<U>;
  else if constexpr (requires { U::extent; }) return U::extent == std::dynamic_extent ? 0 : U::extent;
  else if constexpr (requires { std::tuple_size<U>::value; }) return std::tuple_size<U>::value;
  else return std::size_t(0);
}();

template <class...>
struct type_list;

/// Does each type of one list convert to its counterpart in the other?
template <class From, class To>
inline constexpr bool convertible = false;
template <class... From, class... To>
  requires(sizeof...(From) == sizeof...(To))
inline constexpr bool convertible<type_list<From...>, type_list<To...>> = (std::is_convertible_v<From, To> && ...);

// Compilers print these numbers together with the name of the template.
template <std::size_t> struct parameter_count_is;
template <std::size_t...> struct input_sizes_are;
template <std::size_t...> struct output_sizes_are;
template <std::size_t...> struct gets_sizes;

template <bool Fits, class... Details>
struct weights_fit {
  static_assert(Fits,
                "ago: the weights are not parameter_count floats of fixed extent (gets 0: the extent is known at run "
                "time only; then construct with model(weights, status))");
};

template <bool Fits, class... Details>
struct call_fits {
  static_assert(Fits,
                "ago: a model is called with one span of fixed extent for each input, then one for each output (gets "
                "0: the extent is known at run time only; then use try_run)");
};

}  // namespace ago::runtime
