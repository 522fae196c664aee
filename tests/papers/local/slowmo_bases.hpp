// One step of the base optimizers of SlowMo, on all nodes.
#pragma once

#include <string>

#include "tests/papers/local/local.hpp"

namespace paceline::papers {

struct SlowmoBase {
    SlowmoBase(const Setting& setting, std::string base) : s(setting), kind(std::move(base)) {}

    const Setting& s;
    std::string kind;
    LocalNodes nodes{s};                              // x: what is trained
    Models squares = Models::Zero(entries, s.nodes);  // of Adam
    std::int64_t adam_steps = 0;
    Eigen::RowVectorXd weights = Eigen::RowVectorXd::Ones(s.nodes);  // of push-sum
    Models coming = Models::Zero(entries, s.nodes);                  // of OSGP, under way
    Eigen::RowVectorXd coming_weights = Eigen::RowVectorXd::Zero(s.nodes);

    void step(const Trace& trace, std::int64_t k);
    /// Takes in what is under way.
    void drain();
    /// Resets, averages or leaves the buffers.
    void renew(const std::string& buffers, std::int64_t k);
    /// Returns the mean of the models; of numerators if the base pushes: push-sum keeps their sum.
    [[nodiscard]] Column mean(std::int64_t k) const;

  private:
    void train(const Trace& trace, std::int64_t k);
    void adam(std::int64_t k);
    void all_reduce(std::int64_t k);
    void push(const Models& before);
    [[nodiscard]] Models numerators(const Models& x) const {
        return x.array().rowwise() * weights.array();
    }
};

}  // namespace paceline::papers
