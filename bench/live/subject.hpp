// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bench/live measures: a network in dynamic mode, beside the same network in static mode.
#pragma once

#include "../displaced.hpp"
#include "../entry.hpp"
#include "tuned.hpp"

#include <ago/live.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

/// A network that runs, on one input that stays the same.
class live_run {
 public:
  virtual ~live_run() = default;
  virtual void step() = 0;        ///< in dynamic mode
  virtual void usual_step() = 0;  ///< in static mode, with the default schedules
  virtual void tuned_step() = 0;  ///< in static mode, with the schedules of live/tuned.hpp
  virtual void start(ago::exploration const& how) = 0;
  virtual void stop() = 0;
  virtual ago::exploration_progress progress() const = 0;
  virtual void write_header(std::string const& path) = 0;
};

struct live_subject {
  std::string name;
  int batch = 1;
  std::function<std::unique_ptr<live_run>()> begin;
};

/// All subjects of this program, in no particular order.
inline std::vector<live_subject>& live_subjects() {
  static std::vector<live_subject> all;
  return all;
}

/// Steps of training, or inferences: `Call` runs one of any of the three on the same input.
template <class Live, class Usual, class Tuned, class Call>
class live_run_of : public live_run {
 public:
  template <class... A>
  explicit live_run_of(Call call, A const&... arguments)
      : call_(std::move(call)), live_(std::make_unique<Live>(arguments...)), make_([arguments...] {
          return std::pair(make_displaced<Usual>(0, arguments...), make_displaced<Tuned>(0, arguments...));
        }) {}

  void step() override { call_(*live_); }
  void usual_step() override { call_(*statics().first); }
  void tuned_step() override { call_(*statics().second); }
  void start(ago::exploration const& how) override { live_->start(how); }
  void stop() override { live_->stop(); }
  ago::exploration_progress progress() const override { return live_->progress(); }
  void write_header(std::string const& path) override { live_->write_header(path); }

 private:
  using static_programs = std::pair<std::shared_ptr<Usual>, std::shared_ptr<Tuned>>;
  static_programs& statics() {
    if (!static_.first) static_ = make_();
    return static_;
  }
  Call call_;
  std::unique_ptr<Live> live_;
  std::function<static_programs()> make_;
  static_programs static_;
};

template <class Live, class Usual, class Tuned, class Call, class... A>
std::unique_ptr<live_run> make_live_run(Call call, A const&... arguments) {
  return std::make_unique<live_run_of<Live, Usual, Tuned, Call>>(std::move(call), arguments...);
}

/// Training by SGD, of which a step is forward, backward and update.
template <auto const& Net, int Batch>
bool add_live_training(std::string name) {
  using namespace ago;
  using usual = trainer<Net, cross_entropy, sgd, training{.batch = Batch}>;
  using tuned = trainer<Net, cross_entropy, sgd, training{.batch = Batch}, tuned::live_bench>;
  using live = live_trainer<Net, cross_entropy, sgd, training{.batch = Batch}>;
  live_subjects().push_back({std::move(name), Batch, [] {
                               std::vector<float> x(usual::input_size());
                               for (std::size_t i = 0; i < x.size(); ++i) x[i] = ago::tuner::uniform(2, i, -1, 1);
                               std::vector<int> labels(usual::target_size);
                               for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = int(i) % usual::classes;
                               return make_live_run<live, usual, tuned>(
                                   [x, labels](auto& t) {
                                     t.rate = 1e-4f;
                                     t.step(std::span(x).template first<usual::input_size()>(),
                                            std::span(labels).template first<usual::target_size>());
                                   },
                                   std::uint64_t(1));
                             }});
  return true;
}

/// Inference.
template <auto const& Net>
bool add_live_inference(std::string name) {
  using namespace ago;
  using usual = model<Net>;
  using tuned = model<Net, tuned::live_bench>;
  live_subjects().push_back({std::move(name), 1, [] {
                               static std::vector<float> const weights = ago::tuner::sample_parameters<Net>();
                               std::vector<float> const x = ago::tuner::sample_inputs(planned<Net>::graph)[0];
                               auto const y = std::make_shared<std::vector<float>>(usual::output_size());
                               return make_live_run<live_model<Net>, usual, tuned>(
                                   [x, y](auto& m) {
                                     m(std::span(x).template first<usual::input_size()>(),
                                       std::span(*y).template first<usual::output_size()>());
                                   },
                                   std::span(weights).template first<usual::parameter_count>());
                             }});
  return true;
}

}  // namespace bench
