#include "models/problem.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "models/tensors/parallel.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Eigen::Index;

constexpr std::size_t scored_at_once = 256;

std::vector<int> spread_evenly(Index count, std::int64_t most) {
    const auto picked = std::min(static_cast<std::int64_t>(count), most);
    std::vector<int> picks;
    for (std::int64_t i = 0; i < picked; ++i)
        picks.push_back(static_cast<int>(i * static_cast<std::int64_t>(count) / picked));
    return picks;
}

// Returns how many parts of a batch are computed in parallel: about 128 samples each, and at least
// two if the batch is large enough to be worth a thread.
std::size_t parts_of(std::size_t samples) {
    return samples < 64 ? 1 : std::max<std::size_t>(2, samples / 128);
}

std::span<const int> part_of(std::span<const int> all, std::size_t i, std::size_t parts) {
    const std::size_t begin = all.size() * i / parts;
    return all.subspan(begin, all.size() * (i + 1) / parts - begin);
}

template <class Scalar>
class NetProblem final : public Problem {
  public:
    NetProblem(std::unique_ptr<Net<Scalar>> net, std::shared_ptr<const Dataset> data,
               ProblemOptions options)
        : net_(std::move(net)),
          data_(std::move(data)),
          options_(std::move(options)),
          train_scored_(spread_evenly(data_->train.count(), options_.most_scored)),
          test_scored_(spread_evenly(data_->test.count(), options_.most_scored)) {
        const RandomStreams streams(options_.seed);
        options_.batches.resize(options_.shards.size(), options_.batch);
        for (std::size_t i = 0; i < options_.shards.size(); ++i)
            samplers_.emplace_back(options_.shards[i], options_.batches[i], options_.sampling,
                                   streams.stream("batch", i));
    }

    const LayoutPtr& layout() const override { return net_->layout(); }

    Eigen::VectorXd start() const override {
        RandomStream stream = RandomStreams(options_.seed).stream("start");
        Parameters x(net_->layout()->entries());
        net_->initialize(stream, x);
        return x.template cast<double>();
    }

    Eigen::VectorXd gradient(const Vector& x, int rank) override {
        Local& local = at(x);
        gather(data_->train, samplers_[static_cast<std::size_t>(rank)].next(), local.batch);
        local.net->gradient(local.x, local.batch, local.g);
        if (!options_.weights.empty())
            return options_.weights[static_cast<std::size_t>(rank)] *
                       local.g.template cast<double>() +
                   options_.weight_decay * x.values();
        if (options_.weight_decay == 0) return local.g.template cast<double>();
        return local.g.template cast<double>() + options_.weight_decay * x.values();
    }

    Eigen::VectorXd mean_gradient(const Vector& x) override {
        picks_.clear();
        for (BatchSampler& sampler : samplers_) {
            const std::span<const int> batch = sampler.next();
            picks_.insert(picks_.end(), batch.begin(), batch.end());
        }
        parts_.resize(parts_of(picks_.size()));
        parallel_for(parts_.size(), [&](std::size_t i) {
            Local& local = at(x);
            gather(data_->train, part_of(picks_, i, parts_.size()), local.batch);
            local.net->gradient(local.x, local.batch, parts_[i]);
        });
        return sum_of_parts(x.values());
    }

    bool classifies() const override { return data_->predicts != Prediction::number; }

    Score train_score(const Eigen::VectorXd& x) override {
        return score(x, data_->train, train_scored_);
    }
    Score test_score(const Eigen::VectorXd& x) override {
        return score(x, data_->test, test_scored_);
    }

  private:
    using Parameters = typename Net<Scalar>::Parameters;

    // State of one thread.
    struct Local {
        std::unique_ptr<Net<Scalar>> net;
        std::optional<Vector> cast_from;  // shares the values that x was cast from
        Parameters x;
        Parameters g;
        Samples batch;
    };

    Local& of_this_thread() {
        Local& local = locals_.local();
        if (local.net == nullptr) local.net = net_->clone();
        return local;
    }

    // Returns the local state with x in the scalar type of the net. Holding on to the values keeps
    // their address from being reused.
    Local& at(const Vector& x) {
        Local& local = of_this_thread();
        if (!local.cast_from || !local.cast_from->shares_values_with(x)) {
            local.cast_from = x;
            local.x = x.values().template cast<Scalar>();
        }
        return local;
    }

    Eigen::VectorXd sum_of_parts(const Eigen::VectorXd& x) const {
        constexpr Index block = 2048;  // keeps the sum in the cache
        Eigen::VectorXd g(x.size());
        const auto all = static_cast<double>(picks_.size());
        const auto blocks = static_cast<std::size_t>((x.size() + block - 1) / block);
        parallel_for(blocks, [&](std::size_t b) {
            const Index begin = static_cast<Index>(b) * block;
            const Index size = std::min(block, x.size() - begin);
            auto sum = g.segment(begin, size);
            for (std::size_t i = 0; i < parts_.size(); ++i) {
                const auto samples = static_cast<double>(part_of(picks_, i, parts_.size()).size());
                const auto part = parts_[i].segment(begin, size).template cast<double>();
                if (i == 0)
                    sum = (samples / all) * part;
                else
                    sum += (samples / all) * part;
            }
            if (options_.weight_decay != 0) sum += options_.weight_decay * x.segment(begin, size);
        });
        return g;
    }

    Score score(const Eigen::VectorXd& x, const Samples& samples, std::span<const int> picks) {
        // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): a copy for doubles only
        const Parameters cast = x.template cast<Scalar>();
        std::vector<Score> scores((picks.size() + scored_at_once - 1) / scored_at_once);
        parallel_for(scores.size(), [&](std::size_t i) {
            Local& local = of_this_thread();
            const std::size_t begin = i * scored_at_once;
            gather(samples, picks.subspan(begin, std::min(scored_at_once, picks.size() - begin)),
                   local.batch);
            scores[i] = local.net->score(cast, local.batch);
        });
        Score sum;
        for (const Score& part : scores) sum += part;
        return sum;
    }

    std::unique_ptr<Net<Scalar>> net_;
    std::shared_ptr<const Dataset> data_;
    ProblemOptions options_;
    std::vector<int> train_scored_;
    std::vector<int> test_scored_;
    std::vector<BatchSampler> samplers_;  // one per worker
    std::vector<int> picks_;              // of the last mean gradient
    std::vector<Parameters> parts_;       // its parts
    PerThread<Local> locals_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<Problem> make_problem(std::unique_ptr<Net<Scalar>> net,
                                      std::shared_ptr<const Dataset> data, ProblemOptions options) {
    PACELINE_CHECK(!options.shards.empty() && options.batch >= 1,
                   "every worker has a shard, and a batch a sample");
    return std::make_unique<NetProblem<Scalar>>(std::move(net), std::move(data),
                                                std::move(options));
}

template std::unique_ptr<Problem> make_problem(std::unique_ptr<Net<float>>,
                                               std::shared_ptr<const Dataset>, ProblemOptions);
template std::unique_ptr<Problem> make_problem(std::unique_ptr<Net<double>>,
                                               std::shared_ptr<const Dataset>, ProblemOptions);

}  // namespace paceline
