#include "analysis/fit/least_squares.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <unsupported/Eigen/LevenbergMarquardt>

#include "sim/numeric/sums.hpp"

namespace paceline {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double forward_step = 1e-4;  // of the cube's side
constexpr double central_step = 1e-3;
constexpr Index most_steps = 30;
constexpr int profile_steps = 12;
constexpr double profile_tolerance = 0.02;  // of the rise's root
constexpr int most_restarts = 4;
constexpr std::size_t most_starts = 4;

double sum_of(const VectorXd& residuals) {
    return squared_norm({residuals.data(), static_cast<std::size_t>(residuals.size())});
}

double coordinate(double u) {
    return (1 + u) * (1 + u) / (2 * (1 + u * u));
}

double slope_of_coordinate(double u) {
    const double square = 1 + u * u;
    return (1 - u * u) / (square * square);
}

double from_coordinate(double t) {
    const double s = 2 * t - 1;
    return s / (1 + std::sqrt(1 - s * s));
}

// The problem with one parameter held, or none, as Eigen's solver sees it. Distances from the
// anchor follow the residuals.
class Functor : public Eigen::DenseFunctor<double> {
  public:
    Functor(const LeastSquares& problem, VectorXd held, Index hold, Index rows)
        : DenseFunctor(static_cast<int>(problem.parameters - (hold < 0 ? 0 : 1)),
                       static_cast<int>(rows + problem.parameters)),
          problem_(problem),
          anchor_(problem.anchor.size() > 0 ? problem.anchor
                                            : VectorXd::Constant(problem.parameters, 0.5)),
          held_(std::move(held)),
          hold_(hold) {}

    [[nodiscard]] VectorXd place(const VectorXd& u) const {
        VectorXd t = held_;
        for (Index free = 0; free < u.size(); ++free) t[whole(free)] = coordinate(u[free]);
        return t;
    }
    // Returns u at the held place, a little inside the faces, where no slope leads away.
    [[nodiscard]] VectorXd start() const {
        VectorXd u(inputs());
        for (Index free = 0; free < u.size(); ++free)
            u[free] = from_coordinate(std::clamp(held_[whole(free)], 0.01, 0.99));
        return u;
    }

    int operator()(const VectorXd& u, VectorXd& out) const {
        latest_ = {place(u), {}};
        latest_.second = problem_.residuals({latest_.first}).front();
        out.resize(values());
        out.head(latest_.second.size()) = latest_.second;
        out.tail(anchor_.size()) = anchor_weight * (latest_.first - anchor_);
        return 0;
    }
    int df(const VectorXd& u, MatrixXd& out) const {
        const VectorXd at = place(u);
        std::vector<VectorXd> places;
        if (at != latest_.first) places.push_back(at);
        for (Index free = 0; free < u.size(); ++free) {
            places.push_back(at);
            double& moved = places.back()[whole(free)];
            moved += moved + forward_step <= 1 ? forward_step : -forward_step;
        }
        const std::vector<VectorXd> found = problem_.residuals(places);
        const VectorXd& here = at == latest_.first ? latest_.second : found.front();
        out = MatrixXd::Zero(values(), inputs());
        for (Index free = 0; free < u.size(); ++free) {
            const std::size_t i = found.size() - static_cast<std::size_t>(u.size() - free);
            const double step = places[i][whole(free)] - at[whole(free)];
            const double slope = slope_of_coordinate(u[free]);
            out.col(free).head(here.size()) = (found[i] - here) * (slope / step);
            out(here.size() + whole(free), free) = anchor_weight * slope;
        }
        return 0;
    }

  private:
    [[nodiscard]] Index whole(Index free) const {
        return hold_ >= 0 && free >= hold_ ? free + 1 : free;
    }

    const LeastSquares& problem_;
    VectorXd anchor_;
    VectorXd held_;
    Index hold_;
    mutable std::pair<VectorXd, VectorXd> latest_;  // the last place and its residuals
};

struct Minimum {
    VectorXd at;
    double sum = 0;
};

// Returns the minimum that a place leads to while parameter `hold` stays there; -1: none does.
Minimum descend(const LeastSquares& problem, const VectorXd& from, Index hold, Index rows,
                const std::function<void(double sum)>& tell) {
    Functor functor(problem, from, hold, rows);
    VectorXd u = functor.start();
    Eigen::LevenbergMarquardt<Functor> solver(functor);
    solver.setFactor(1);
    const bool rough = hold >= 0;  // a profile's ends are wanted to 2 %
    solver.setFtol(rough ? 1e-5 : 1e-10);
    solver.setXtol(rough ? 1e-4 : 1e-9);
    solver.setMaxfev(most_steps * 4);
    if (solver.minimizeInit(u) != Eigen::LevenbergMarquardtSpace::ImproperInputParameters)
        for (Index step = 0; step < most_steps; ++step) {
            const auto status = solver.minimizeOneStep(u);
            if (tell) tell(solver.fnorm() * solver.fnorm());
            if (status != Eigen::LevenbergMarquardtSpace::Running) break;
        }
    const VectorXd at = functor.place(u);
    return {at, sum_of(problem.residuals({at}).front())};
}

double halton(std::size_t index, std::size_t base) {
    double share = 1;
    double value = 0;
    for (; index > 0; index /= base) {
        share /= static_cast<double>(base);
        value += share * static_cast<double>(index % base);
    }
    return value;
}

// Returns places to start from: the best of a sample that are apart from each other.
std::vector<VectorXd> choose_starts(const LeastSquares& problem) {
    constexpr auto primes = std::to_array<std::size_t>({2, 3, 5, 7, 11, 13, 17, 19, 23, 29});
    const Index n = problem.parameters;
    std::vector<VectorXd> sample{VectorXd::Constant(n, 0.5)};
    const std::size_t size = std::min<std::size_t>(64, 16 * static_cast<std::size_t>(n));
    for (std::size_t i = 1; i < size; ++i) {
        VectorXd& place = sample.emplace_back(n);
        for (Index j = 0; j < n; ++j)
            place[j] = halton(i, primes.at(static_cast<std::size_t>(j) % primes.size()));
    }
    std::vector<std::pair<double, std::size_t>> order;
    const std::vector<VectorXd> residuals = problem.residuals(sample);
    for (std::size_t i = 0; i < sample.size(); ++i) order.emplace_back(sum_of(residuals[i]), i);
    std::ranges::sort(order);
    std::vector<VectorXd> starts;
    for (const auto& [sum, i] : order) {
        const auto is_near = [&place = sample[i]](const VectorXd& other) {
            return (place - other).cwiseAbs().maxCoeff() < 0.2;
        };
        if (starts.size() < most_starts && std::ranges::none_of(starts, is_near))
            starts.push_back(sample[i]);
    }
    return starts;
}

Fit fit_at(const LeastSquares& problem, const VectorXd& at) {
    std::vector<VectorXd> places{at};
    for (Index j = 0; j < at.size(); ++j)
        for (const double step : {-central_step, central_step}) {
            places.push_back(at);
            places.back()[j] = std::clamp(at[j] + step, 0.0, 1.0);
        }
    std::vector<VectorXd> found = problem.residuals(places);
    Fit fit{at, std::move(found.front()), {}, 0};
    fit.sum = sum_of(fit.residuals);
    fit.slopes.resize(fit.residuals.size(), at.size());
    for (Index j = 0; j < at.size(); ++j) {
        const auto below = static_cast<std::size_t>(1 + 2 * j);
        fit.slopes.col(j) =
            (found[below + 1] - found[below]) / (places[below + 1][j] - places[below][j]);
    }
    return fit;
}

// The profile of one parameter.
class ParameterProfile {
  public:
    ParameterProfile(const LeastSquares& problem, const Fit& fit, Index parameter)
        : problem_(problem), fit_(fit), parameter_(parameter) {}

    // Returns the least S with the parameter at t, found from the minimum of `near`.
    [[nodiscard]] Minimum at(double t, const VectorXd& near) const {
        VectorXd from = near;
        from[parameter_] = t;
        if (fit_.at.size() > 1)
            return descend(problem_, from, parameter_, fit_.residuals.size(), {});
        return {from, sum_of(problem_.residuals({from}).front())};
    }

    // Returns where the profile has risen by `rise` on the way to a face, 0 or 1, or nothing if it
    // has not. `lower` takes a place below the minimum, if one is met.
    [[nodiscard]] std::optional<double> end(double face, double rise,
                                            std::optional<Minimum>& lower) const {
        const double goal = std::sqrt(rise);
        const auto above = [&](const Minimum& minimum) {
            if (minimum.sum < fit_.sum - 0.01 * rise && (!lower || minimum.sum < lower->sum))
                lower = minimum;
            return std::sqrt(std::max(0.0, minimum.sum - fit_.sum)) - goal;
        };
        // Distances from the minimum toward the face. Beside a minimum, the root of the rise grows
        // with the distance, so secants meet the goal in a few steps.
        const double way = std::abs(face - fit_.at[parameter_]);
        const double sign = face > 0.5 ? 1 : -1;
        std::pair<double, double> before{0, -goal};
        double low = 0;
        std::optional<double> high;
        VectorXd near = fit_.at;
        double next = std::min(first_guess(rise), way);
        for (int step = 0; step < profile_steps; ++step) {
            const Minimum here = at(fit_.at[parameter_] + sign * next, near);
            const double value = above(here);
            if (value < 0 && next == way) return std::nullopt;
            if (std::abs(value) < profile_tolerance * goal) break;
            const double secant = next - value * (next - before.first) / (value - before.second);
            before = {next, value};
            if (value < 0) {
                near = here.at;
                low = next;
            } else {
                high = next;
            }
            if (!high)
                next = std::min(way, std::clamp(secant, 1.25 * low, 4 * low));
            else
                next = secant > low && secant < *high ? secant : 0.5 * (low + *high);
            if (std::isnan(next)) next = 0.5 * (low + high.value_or(way));
        }
        return fit_.at[parameter_] + sign * next;
    }

  private:
    // Returns how far it is until S rises so far if the residuals are linear and the other
    // parameters stay.
    [[nodiscard]] double first_guess(double rise) const {
        const double square = sum_of(fit_.slopes.col(parameter_));
        return square > 0 ? std::max(1e-6, std::sqrt(rise / square)) : 1;
    }

    const LeastSquares& problem_;
    const Fit& fit_;
    Index parameter_;
};

}  // namespace

Fit fit(const LeastSquares& problem) {
    const std::vector<VectorXd> starts = choose_starts(problem);
    const Index rows = problem.residuals({starts.front()}).front().size();
    std::optional<Minimum> best;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        Minimum found = descend(problem, starts[i], -1, rows, [&](double sum) {
            if (problem.tell) problem.tell(i, sum);
        });
        if (!best || found.sum < best->sum) best = std::move(found);
    }
    return fit_at(problem, best->at);
}

Profiles profiles(const LeastSquares& problem, Fit fit,
                  const std::function<double(const Fit& fit)>& rise) {
    for (int restart = 0;; ++restart) {
        Profiles found;
        std::optional<Minimum> lower;
        const double allowed = rise(fit);
        for (Index j = 0; j < problem.parameters; ++j) {
            if (lower && restart < most_restarts) break;
            const ParameterProfile profile(problem, fit, j);
            const std::optional<double> low = profile.end(0, allowed, lower);
            const std::optional<double> high = profile.end(1, allowed, lower);
            found.intervals.push_back({low.value_or(0), high.value_or(1), !low, !high});
        }
        if (!lower || restart == most_restarts) {
            found.fit = std::move(fit);
            return found;
        }
        const Minimum better = descend(problem, lower->at, -1, fit.residuals.size(), {});
        fit = fit_at(problem, better.at);
    }
}

}  // namespace paceline
