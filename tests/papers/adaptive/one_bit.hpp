// The compressed all-reduce of 1-bit Adam, 1-bit LAMB and 0/1 Adam (released code: DeepSpeed,
// runtime/comm/nccl.py), as one function.
//
//   a_i = x_i + w_i, padded with zeros to P entries;  s_i = |a_i| / sqrt(P);  w_i <- a_i - s_i
//                                                     sgn(a_i)
//   c_j = mean of s_i sgn(a_i) + e_j on chunk j;  S_j = |c_j| / sqrt(P/n);  e_j <- c_j - S_j
//                                                 sgn(c_j)
//   result on chunk j: S_j sgn(c_j)
//
// sgn(0) = 1. P is the least multiple of n q, q = 8n / gcd(n, 8).
#pragma once

#include <numeric>

#include "tests/papers/papers.hpp"

namespace paceline::papers {

class OneBitAllReduce {
  public:
    OneBitAllReduce(int nodes, Eigen::Index size) : nodes_(nodes), padded_(padded(nodes, size)) {
        forget();
    }
    void forget() {
        w_ = Models::Zero(padded_, nodes_);
        e_ = Column::Zero(padded_);
    }
    Column operator()(const Models& x) {
        Models a = w_;
        a.topRows(x.rows()) += x;
        Column mean = Column::Zero(padded_);
        for (int i = 0; i < nodes_; ++i) {
            const Column sent = one_bit(a.col(i));
            w_.col(i) = a.col(i) - sent;
            mean += sent / nodes_;
        }
        Column result(padded_);
        const Eigen::Index chunk = padded_ / nodes_;
        for (int j = 0; j < nodes_; ++j) {
            const Column c = (mean + e_).segment(j * chunk, chunk);
            result.segment(j * chunk, chunk) = one_bit(c);
            e_.segment(j * chunk, chunk) = c - one_bit(c);
        }
        return result.head(x.rows());
    }

  private:
    static Eigen::Index padded(int nodes, Eigen::Index size) {
        const Eigen::Index unit = Eigen::Index{nodes} * 8 * nodes / std::gcd(nodes, 8);
        return (size + unit - 1) / unit * unit;
    }
    static Column one_bit(const Column& a) {
        const double scale = a.norm() / std::sqrt(static_cast<double>(a.size()));
        return a.unaryExpr([scale](double v) { return v >= 0 ? scale : -scale; });
    }

    int nodes_;
    Eigen::Index padded_;
    Models w_;  // each worker's error
    Column e_;  // the owners' errors
};

/// One call for the whole model, or one for each tensor.
class OneBitCalls {
  public:
    OneBitCalls(int nodes, bool fused) {
        if (fused) parts_.push_back({0, 1, entries, false});
        if (!fused) parts_ = parts();
        for (const Part& part : parts_) calls_.emplace_back(nodes, part.size());
    }
    Column operator()(const Models& x) {
        Column result(entries);
        for (std::size_t l = 0; l < parts_.size(); ++l)
            result.segment(parts_[l].begin, parts_[l].size()) =
                calls_[l](x.middleRows(parts_[l].begin, parts_[l].size()));
        return result;
    }
    void forget() {
        for (OneBitAllReduce& call : calls_) call.forget();
    }

  private:
    std::vector<Part> parts_;
    std::vector<OneBitAllReduce> calls_;
};

}  // namespace paceline::papers
