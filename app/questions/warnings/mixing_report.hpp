// What `paceline check` reports about the mixings of a study: how fast they reach consensus, and
// whether they suit their algorithms.
//
// Problems are only warnings. A mixing is allowed whatever it leads to, because showing that may be
// the point of a study.
//   DecentLaM  needs a symmetric, static W: without gradients each eigenvalue lambda of W has
//              z^2 - (beta + lambda) z + beta = 0, which is stable for real lambda only; and
//              momentum accumulated under one W does not fit the next.
//   D2         needs lambda_n > -1/3: z^2 - 2 lambda z + lambda = 0.
//   push-sum   needs a strongly connected graph. It does not use the weights of W, so W need not
//              keep the mean; rho is not known then.
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/scenario/study.hpp"

namespace paceline {

/// A mixing as JSON, and its number of workers.
using MixingIdentity = std::pair<std::string, int>;

/// Some workers never hear of others, not even through third ones. Empty if all are in one part.
std::string mixing_in_parts(const Scenario& scenario);

/// Collects a line for each distinct mixing of a study.
class MixingLines {
  public:
    /// Call once for each point.
    void see(const Scenario& scenario);
    /// Returns a heading and the lines; empty if there are no mixings.
    [[nodiscard]] std::string text() const;

  private:
    std::set<MixingIdentity> seen_;
    std::string lines_;
};

/// Collects the warnings of a study about its mixings.
class MixingWarnings {
  public:
    /// Call once for each point.
    void see(const Scenario& scenario);
    /// Returns each warning once, in the order of the points.
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    struct Warning {
        std::string algorithm, mixing, problem;
        std::vector<int> workers;
    };

    std::set<std::tuple<MixingIdentity, MixingNeed, std::string>> seen_;
    std::vector<Warning> warnings_;
};

}  // namespace paceline
