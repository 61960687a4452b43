// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The price of the lines that a chain moves, computed as one pipeline or link by link.
#pragma once

#include <ago/partition/pairing.hpp>
#include <ago/partition/usual_loops.hpp>

namespace ago::partition {

/// A step in time, which is counted in the bytes that steps use. Compilers evaluate its functions thousands of times,
/// so that they call none if it goes over all its values in their order.
struct timed_step {
  std::int64_t length = 0;
  sweep order{};
  bool is_plain = true;

  constexpr timed_step() = default;
  constexpr explicit timed_step(std::int64_t bytes, sweep const& in = {})
      : length(bytes), order(in), is_plain(in.blocks == 1 && in.panels == 1) {}
  /// Bytes that it uses before it first reads, or writes, the byte at x of a value, and after it has last read, or
  /// written it.
  constexpr std::int64_t to_read(std::int64_t x) const {
    return length * (is_plain ? x : order.first_read(x)) / sweep::whole;
  }
  constexpr std::int64_t to_write(std::int64_t x) const {
    return length * (is_plain ? x : order.written(x)) / sweep::whole;
  }
  constexpr std::int64_t from_read(std::int64_t x) const {
    return length - length * (is_plain ? x : order.last_read(x)) / sweep::whole;
  }
  constexpr std::int64_t from_written(std::int64_t x) const {
    return length - length * (is_plain ? x : order.written(x)) / sweep::whole;
  }
};

/// The price of using `bytes` again, on average over positions x in a value, where those at x are used again after
/// distance(x) others.
constexpr std::int64_t price_of_value(std::int64_t bytes, device const& on, auto const& distance,
                                      bool to_product = false) {
  constexpr std::int64_t eighth = sweep::whole / 8;
  std::int64_t const first = price_after(distance(eighth), on, to_product);
  std::int64_t const last = price_after(distance(7 * eighth), on, to_product);
  if (first == last) return bytes * first;
  std::int64_t const between = price_after(distance(3 * eighth), on, to_product);
  return bytes * (first + between + price_after(distance(5 * eighth), on, to_product) + last) / 4;
}
constexpr std::int64_t price_of_reading(std::int64_t bytes, timed_step const& writer, timed_step const& reader,
                                        device const& on, bool to_product = false) {
  return price_of_value(
      bytes, on, [&](std::int64_t x) { return writer.from_written(x) + reader.to_read(x); }, to_product);
}
/// Writing to memory that held a value which an earlier step has read, from the first byte to the last, `between`
/// bytes before.
constexpr std::int64_t price_of_writing(std::int64_t bytes, timed_step const& earlier, std::int64_t between,
                                        timed_step const& writer, device const& on) {
  timed_step const once(earlier.length);
  return price_of_value(bytes, on, [&](std::int64_t x) { return once.from_read(x) + between + writer.to_write(x); });
}

/// A link that is computed alone.
struct link_alone {
  part_loops loops{};
  timed_step step{};
  std::int64_t price = 0, arithmetic = 0;  ///< of its kernel; of which for a matrix product

  constexpr link_alone() = default;
  constexpr link_alone(chain_link const& l, usual_products& known, device const& on) : loops(operands_of(l)) {
    if (loops.is_matrix()) arithmetic = fit_product(loops, l, {}, true, known, on);
    loops.blocks = blocks_of(l, loops, known, on);
    priced_use use(on);
    add_kernel(use, loops);
    step = timed_step(loops.input + loops.output + use.weights, use.order);
    price = use.price + arithmetic;
  }
};

/// The links of a chain, each computed alone, and the price of all of it. The steps around a chain are not known; they
/// are taken to be as long as the links on average. Before one that begins the network, the inference before has used
/// other memory: half of L2, between what small and large networks use (of plans of six networks for three devices, the
/// predicted times are the least with it).
struct links_alone {
  link_alone const* links;  ///< which outlive this
  timed_step steps[max_parts]{}, around{};
  std::int64_t before{};                   ///< bytes used then
  std::int64_t price = 0, arithmetic = 0;  ///< of which for matrix products
  bool may_end_in_pairs;                   ///< see may_be_paired()

  constexpr links_alone(chain_link const* chain, link_alone const* each, int count, device const& on)
      : links(each), may_end_in_pairs(may_be_paired(chain[count - 1], on)) {
    for (int i = 0; i < count; ++i) {
      steps[i] = links[i].step;
      around.length += steps[i].length;
      price += links[i].price;
      arithmetic += links[i].arithmetic;
    }
    around.length /= count;
    if (chain[0].begins) before = on.l2_bytes / 2;
    for (int i = 0; i < count; ++i) {
      chain_link const& l = chain[i];
      bool const is_matrix = links[i].loops.is_matrix();
      price += price_of_reading(links[i].loops.input, i > 0 ? steps[i - 1] : around, steps[i], on, is_matrix);
      price += writing(chain, i, i + 1 == count, on);
      if (l.adds >= 0)
        price += price_of_value(bytes(chain[l.adds].in), on, [&](std::int64_t x) {
          return steps[l.adds].from_read(x) + between(l.adds, i) + steps[i].to_read(x);
        });
    }
    price += price_of_reading(bytes(chain[count - 1].out), steps[count - 1], around, on);
  }

 private:
  constexpr std::int64_t between(int k, int i) const {
    std::int64_t sum = 0;
    while (++k < i) sum += steps[k].length;
    return sum;
  }
  /// Writing the result of link i: to the memory of the latest value of about its size that has been read; otherwise,
  /// of one that a step before the chain has read. As pipelines have no use for the memory of values inside them, one
  /// between pipelines may be written to memory that was not used for long: in a quarter of the cases.
  constexpr std::int64_t writing(chain_link const* chain, int i, bool is_last, device const& on) const {
    std::int64_t const size = bytes(chain[i].out);
    int k = i - 1;
    auto const suits = [&](std::int64_t other) { return other >= size * 3 / 4 && other <= size * 4 / 3; };
    while (k >= 0 && (chain[i].adds == k || !suits(bytes(chain[k].in)))) --k;
    std::int64_t const passed = k >= 0 ? between(k, i) : before + (i > 0 ? between(-1, i) : around.length);
    std::int64_t const usual = price_of_writing(size, k >= 0 ? steps[k] : around, passed, steps[i], on);
    return is_last ? usual : usual - usual / 4 + size * price_after(passed + 3 * around.length, on) / 4;
  }
};

/// The links of a chain as parts of a pipeline. Of several sizes of chunks of channels, only the first part depends on
/// the size.
struct pipeline_parts {
  part_loops of[max_parts]{};
  std::int64_t arithmetic[max_parts]{};
  tiling how = tiling::none;
  usual_products& products;

  constexpr pipeline_parts(link_alone const* links, int count, usual_products& known) : products(known) {
    for (int i = 0; i < count; ++i) {
      of[i] = links[i].loops;
      of[i].blocks = 1;
    }
  }
  constexpr void fit(chain_link const* chain, int count, chain_tiling const& t, device const& on) {
    for (int i = 0; i < (how == t.how && by_channels(how) ? 1 : count); ++i)
      if (of[i].is_matrix()) arithmetic[i] = fit_product(of[i], chain[i], t, i == 0, products, on);
    how = t.how;
  }
};

/// The least price of the products of a pipeline. They take no less time than alone, with more register tiles to choose
/// from (of which not all are tried here); except that a core that runs in order does not wait for the inputs of short
/// lines, which stay in L1.
constexpr std::int64_t least_arithmetic(links_alone const& alone, device const& on) {
  return on.in_order ? alone.arithmetic - alone.arithmetic / 8 : alone.arithmetic;
}

/// The price of a chain as a pipeline in tiles `t`, to which its parts are fit.
constexpr std::int64_t price_of_pipeline(chain_link const* chain, int count, chain_tiling const& t,
                                         working_set const& set, pipeline_parts& parts, links_alone const& alone,
                                         device const& on) {
  timed_step const& around = alone.around;
  parts.fit(chain, count, t, on);
  std::int64_t sum = 0;
  for (int i = 0; i < count; ++i) sum += parts.arithmetic[i];
  if (std::int64_t const least = least_arithmetic(alone, on); sum < least) sum = least;
  priced_use use(on);
  add_pipeline(use, parts.of, chain, count, t, set);
  std::int64_t const in = parts.of[0].input, out = parts.of[count - 1].output;
  timed_step now(in + out + use.weights, use.order);
  for (std::int64_t const ring : use.rings) now.length += ring;
  return sum + use.price + price_of_reading(in, around, now, on, parts.of[0].is_matrix()) +
         price_of_writing(out, around, alone.before, now, on) + price_of_reading(out, now, around, on);
}

}  // namespace ago::partition
