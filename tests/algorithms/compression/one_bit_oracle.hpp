// A second implementation of the compressed all-reduce, entry by entry. The tests of the 1-bit
// family compare the real one with it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <Eigen/Core>

#include "models/tensors/layout.hpp"

namespace paceline {

/// Holds the errors of n workers and n owners for one buffer of d entries.
class OneBitOracle {
  public:
    OneBitOracle(int workers, std::int64_t entries) : n_(static_cast<std::size_t>(workers)) {
        const std::int64_t n = workers;
        const std::int64_t multiple = n * (8 * n / std::gcd(n, std::int64_t{8}));
        std::int64_t padded = 0;
        while (padded < entries) padded += multiple;
        p_ = static_cast<std::size_t>(padded);
        worker_errors.assign(n_, std::vector<double>(p_, 0.0));
        owner_errors.assign(p_, 0.0);
    }

    /// Returns the result for inputs x_1 .. x_n.
    Eigen::VectorXd operator()(const std::vector<Eigen::VectorXd>& x) {
        std::vector<double> mean(p_, 0.0);
        for (std::size_t i = 0; i < n_; ++i) {
            std::vector<double>& error = worker_errors[i];
            double squares = 0;
            for (std::size_t e = 0; e < p_; ++e) {
                if (e < static_cast<std::size_t>(x[i].size()))
                    error[e] += x[i](static_cast<Eigen::Index>(e));
                squares += error[e] * error[e];
            }
            const double scale = std::sqrt(squares / static_cast<double>(p_));
            for (std::size_t e = 0; e < p_; ++e) {
                const double said = error[e] >= 0 ? scale : -scale;
                error[e] -= said;
                mean[e] += said / static_cast<double>(n_);
            }
        }
        Eigen::VectorXd result(x[0].size());
        for (std::size_t j = 0; j < n_; ++j) reduce_chunk(j, mean, result);
        return result;
    }

    std::vector<std::vector<double>> worker_errors;
    std::vector<double> owner_errors;

  private:
    void reduce_chunk(std::size_t j, const std::vector<double>& mean, Eigen::VectorXd& result) {
        const std::size_t chunk = p_ / n_;
        double squares = 0;
        for (std::size_t e = j * chunk; e < (j + 1) * chunk; ++e) {
            owner_errors[e] += mean[e];
            squares += owner_errors[e] * owner_errors[e];
        }
        const double scale = std::sqrt(squares / static_cast<double>(chunk));
        for (std::size_t e = j * chunk; e < (j + 1) * chunk; ++e) {
            const double said = owner_errors[e] >= 0 ? scale : -scale;
            owner_errors[e] -= said;
            if (e < static_cast<std::size_t>(result.size()))
                result(static_cast<Eigen::Index>(e)) = said;
        }
    }

    std::size_t n_;
    std::size_t p_;
};

/// Calls the oracle once per tensor, or once for the whole model.
class OneBitModelOracle {
  public:
    OneBitModelOracle(int workers, LayoutPtr layout, bool fused) : layout_(std::move(layout)) {
        if (fused) {
            offsets_ = {0};
            sizes_ = {layout_->entries()};
        } else {
            for (std::size_t l = 0; l < layout_->tensors().size(); ++l) {
                offsets_.push_back(layout_->offset(l));
                sizes_.push_back(layout_->tensors()[l].entries());
            }
        }
        for (const std::int64_t size : sizes_) calls_.emplace_back(workers, size);
    }

    Eigen::VectorXd operator()(const std::vector<Eigen::VectorXd>& x) {
        Eigen::VectorXd result(layout_->entries());
        for (std::size_t b = 0; b < calls_.size(); ++b) {
            std::vector<Eigen::VectorXd> parts;
            for (const Eigen::VectorXd& one : x)
                parts.emplace_back(one.segment(offsets_[b], sizes_[b]));
            result.segment(offsets_[b], sizes_[b]) = calls_[b](parts);
        }
        return result;
    }

  private:
    LayoutPtr layout_;
    std::vector<std::int64_t> offsets_;
    std::vector<std::int64_t> sizes_;
    std::vector<OneBitOracle> calls_;
};

}  // namespace paceline
