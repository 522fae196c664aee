// Clients whose objectives are quadratics of one parameter, and what rounds of theirs converge to.
//
//   f_i(x) = (h_i / 2) (x - t_i)^2,  without noise, at a constant learning rate gamma
//
// E local steps from x, pulled by mu to where they began, leave client i at x + q_i (t_i - x), with
//
//   q_i = (1 - (1 - gamma (h_i + mu))^E) h_i / (h_i + mu)
//
// So the mean of all clients stands still at sum q_i t_i / sum q_i, while the sum of the f_i is
// least at sum h_i t_i / sum h_i. FedAvg is mu = 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "tests/algorithms/servers/server_run.hpp"

namespace paceline {

struct Quadratics {
    std::vector<double> curvature;  // h_i
    std::vector<double> target;     // t_i
    double gamma = 0.1;

    [[nodiscard]] int clients() const { return static_cast<int>(curvature.size()); }
    [[nodiscard]] double minimum() const { return mean_of_targets(curvature); }
    [[nodiscard]] double fixed_point(std::int64_t local_steps, double mu) const {
        std::vector<double> q;
        for (const double h : curvature)
            q.push_back((1 - std::pow(1 - gamma * (h + mu), static_cast<double>(local_steps))) * h /
                        (h + mu));
        return mean_of_targets(q);
    }
    [[nodiscard]] Job job(std::int64_t steps) const {
        Job job = training_job(make_layout({{"x", {1}}}), steps);
        job.learning_rate = [gamma = gamma](std::int64_t) { return gamma; };
        job.objective = [all = *this](const Vector& x, int rank, std::int64_t) -> Eigen::VectorXd {
            const auto i = static_cast<std::size_t>(rank);
            return all.curvature[i] * (x.values().array() - all.target[i]);
        };
        return job;
    }

  private:
    [[nodiscard]] double mean_of_targets(const std::vector<double>& weights) const {
        double sum = 0;
        double all = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            sum += weights[i] * target[i];
            all += weights[i];
        }
        return sum / all;
    }
};

/// Two clients that are far apart.
inline const Quadratics two_quadratics{{1, 4}, {-1, 3}};

}  // namespace paceline
