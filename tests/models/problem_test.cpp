#include "models/problem.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <tbb/global_control.h>

#include "models/data/gaussian_mixture.hpp"
#include "models/data/linear_regression.hpp"
#include "models/data/partition.hpp"
#include "models/nets/linear_regression.hpp"
#include "models/nets/mlp.hpp"
#include "sim/engine/random.hpp"

namespace paceline::problem_test {
namespace {

using doctest::Approx;

constexpr int workers = 4;

std::shared_ptr<const Dataset> clouds(int train, int test) {
    return std::make_shared<const Dataset>(
        gaussian_mixture({.train = train, .test = test}, RandomStreams(7)));
}

template <class Scalar>
std::unique_ptr<Net<Scalar>> mlp() {
    return make_mlp<Scalar>({20, {16}, 10});
}

Shards own_blocks(const Dataset& data) {
    return partition_contiguous(static_cast<int>(data.train.count()), workers);
}

template <class Scalar>
std::unique_ptr<Problem> mlp_problem(const std::shared_ptr<const Dataset>& data,
                                     ProblemOptions options) {
    if (options.shards.empty()) options.shards = own_blocks(*data);
    return make_problem<Scalar>(mlp<Scalar>(), data, std::move(options));
}

Vector at(const Problem& problem, const Eigen::VectorXd& x) {
    return {problem.layout(), x};
}

// The figures of the net by itself, from all samples at once.
template <class Scalar>
Eigen::VectorXd gradient_of(const Dataset& data, std::span<const int> which,
                            const Eigen::VectorXd& x) {
    Samples batch;
    gather(data.train, which, batch);
    typename Net<Scalar>::Parameters g;
    (void)mlp<Scalar>()->gradient(x.cast<Scalar>(), batch, g);
    return g.template cast<double>();
}

template <class Scalar>
Score score_of(const Samples& samples, const Eigen::VectorXd& x) {
    return mlp<Scalar>()->score(x.cast<Scalar>(), samples);
}

TEST_CASE(
    "problem: a gradient is the net's on the batch of the worker's own stream, plus decay x") {
    const auto data = clouds(203, 10);
    for (const Sampling sampling : {Sampling::passes, Sampling::with_replacement})
        for (std::uint64_t seed = 1; seed < 4; ++seed) {
            CAPTURE(seed);
            const auto problem = mlp_problem<double>(
                data, {.batch = 37, .sampling = sampling, .weight_decay = 0.3, .seed = seed});
            const Eigen::VectorXd x = problem->start();

            for (int rank = 0; rank < workers; ++rank) {
                const auto own = static_cast<std::size_t>(rank);
                BatchSampler batches(own_blocks(*data)[own], 37, sampling,
                                     RandomStreams(seed).stream("batch", own));
                for (int k = 0; k < 3; ++k) {
                    const Eigen::VectorXd expected =
                        gradient_of<double>(*data, batches.next(), x) + 0.3 * x;
                    const Eigen::VectorXd found = problem->gradient(at(*problem, x), rank);

                    CHECK((found - expected).norm() < 1e-12 * expected.norm());
                }
            }
        }
}

TEST_CASE("problem: a worker's batches do not depend on how often the others have drawn") {
    const auto data = clouds(200, 10);
    const auto alone = mlp_problem<float>(data, {.batch = 8});
    const auto among = mlp_problem<float>(data, {.batch = 8});
    const Vector x = at(*alone, alone->start());

    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < k; ++i) (void)among->gradient(x, 0);
        CHECK(among->gradient(x, 2) == alone->gradient(x, 2));
    }
}

TEST_CASE("problem: workers of unlike shards have unlike gradients") {
    const auto problem = mlp_problem<float>(clouds(200, 10), {.batch = 8});
    const Vector x = at(*problem, problem->start());

    CHECK((problem->gradient(x, 0) - problem->gradient(x, 1)).norm() > 1e-3);
}

TEST_CASE("problem: the start is the net's own initialization and depends on the seed alone") {
    const auto data = clouds(200, 10);
    const Eigen::VectorXd one = mlp_problem<float>(data, {.batch = 8, .seed = 1})->start();

    CHECK(one.size() == mlp<float>()->layout()->entries());
    CHECK(mlp_problem<float>(data, {.batch = 2, .weight_decay = 1, .seed = 1})->start() == one);
    CHECK(mlp_problem<float>(data, {.batch = 8, .seed = 2})->start() != one);
    CHECK(one.head(20 * 16).norm() == Approx(std::sqrt(16 * 2)).epsilon(0.2));  // He's variance
    CHECK(one.segment(20 * 16, 16).norm() == 0);                                // biases
}

template <class Scalar>
void check_mean_gradient(double tolerance) {
    const auto data = clouds(203, 10);
    for (const int batch : {1, 8, 100})
        for (std::uint64_t seed = 1; seed < 4; ++seed) {
            CAPTURE(batch);
            CAPTURE(seed);
            const ProblemOptions options{.batch = batch, .weight_decay = 0.1, .seed = seed};
            const auto each = mlp_problem<Scalar>(data, options);
            const auto all = mlp_problem<Scalar>(data, options);
            const Vector x = at(*each, each->start());

            for (int k = 0; k < 3; ++k) {
                Eigen::VectorXd mean = Eigen::VectorXd::Zero(x.entries());
                for (int rank = 0; rank < workers; ++rank)
                    mean += each->gradient(x, rank) / workers;

                CHECK((all->mean_gradient(x) - mean).norm() < tolerance * mean.norm());
            }
        }
}

TEST_CASE("problem: the mean gradient is the mean of the workers' gradients, step after step") {
    check_mean_gradient<double>(1e-12);
    check_mean_gradient<float>(1e-5);
}

TEST_CASE("problem: the mean gradient of shards of unlike sizes weighs workers alike") {
    const auto data = clouds(200, 10);
    const Shards shards = {{0}, {1, 2, 3}, {4, 5, 6, 7, 8, 9, 10}};
    const auto each = mlp_problem<double>(data, {.shards = shards, .batch = 5});
    const auto all = mlp_problem<double>(data, {.shards = shards, .batch = 5});
    const Vector x = at(*each, each->start());

    Eigen::VectorXd mean = Eigen::VectorXd::Zero(x.entries());
    for (int rank = 0; rank < 3; ++rank) mean += each->gradient(x, rank) / 3;

    CHECK((all->mean_gradient(x) - mean).norm() < 1e-12 * mean.norm());
}

struct Figures {
    Eigen::VectorXd gradient;
    Eigen::VectorXd mean;
    double train = 0;
    double test = 0;
};

// Large enough that batches and scores are split into several parts.
Figures figures_with(std::size_t threads, const std::shared_ptr<const Dataset>& data) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const auto problem = mlp_problem<float>(data, {.batch = 700, .weight_decay = 0.01});
    const Vector x = at(*problem, problem->start());
    Figures figures;
    figures.gradient = problem->gradient(x, 1);
    figures.mean = problem->mean_gradient(x);
    figures.train = problem->train_score(x.values()).loss;
    figures.test = problem->test_score(x.values()).loss;
    return figures;
}

TEST_CASE("problem: gradients and scores are the same bits on one thread and on four") {
    const auto data = clouds(8000, 3000);
    const Figures one = figures_with(1, data);
    const Figures four = figures_with(4, data);

    CHECK(one.gradient == four.gradient);
    CHECK(one.mean == four.mean);
    CHECK(one.train == four.train);
    CHECK(one.test == four.test);
}

TEST_CASE("problem: a score is the sum over all samples, whatever parts it is taken in") {
    const auto data = clouds(3001, 1777);
    const auto problem = mlp_problem<double>(data, {.batch = 4});
    const Eigen::VectorXd x = problem->start();

    const Score train = problem->train_score(x);
    const Score test = problem->test_score(x);

    const Score whole_train = score_of<double>(data->train, x);
    const Score whole_test = score_of<double>(data->test, x);
    CHECK(train.predictions == 3001);
    CHECK(train.correct == whole_train.correct);
    CHECK(train.loss == Approx(whole_train.loss).epsilon(1e-12));
    CHECK(test.predictions == 1777);
    CHECK(test.correct == whole_test.correct);
    CHECK(test.loss == Approx(whole_test.loss).epsilon(1e-12));
}

// A data set on which a sample's loss identifies the sample: x = 0 predicts 0, and the target of
// sample i is sqrt(2^i).
std::shared_ptr<const Dataset> powers_of_two(int train, int test) {
    Dataset data;
    data.predicts = Prediction::number;
    const auto fill = [](Samples& samples, int count) {
        samples.inputs.setOnes(1, count);
        samples.targets.resize(count);
        for (int i = 0; i < count; ++i)
            samples.targets[i] = std::sqrt(std::ldexp(2.0F, i));  // loss 2^i
    };
    fill(data.train, train);
    fill(data.test, test);
    return std::make_shared<const Dataset>(std::move(data));
}

// Returns the samples that a score has read.
std::vector<int> samples_in(const Score& score) {
    std::vector<int> found;
    double left = score.loss;
    for (int i = 20; i >= 0; --i)
        if (left >= std::ldexp(0.99, i)) {
            left -= std::ldexp(1.0, i);
            found.insert(found.begin(), i);
        }
    return found;
}

TEST_CASE("problem: of many samples only some are scored, evenly spread over the set") {
    const auto data = powers_of_two(12, 5);
    ProblemOptions options;
    options.shards = {{0, 1, 2}, {3, 4, 5, 6, 7, 8, 9, 10, 11}};
    options.batch = 2;
    options.most_scored = 4;
    const auto problem =
        make_problem<double>(make_linear_regression<double>({1, false}), data, options);
    const Eigen::VectorXd x = Eigen::VectorXd::Zero(1);

    const std::vector<int> train = samples_in(problem->train_score(x));
    const std::vector<int> test = samples_in(problem->test_score(x));

    REQUIRE(train.size() == 4);
    for (std::size_t i = 1; i < 4; ++i) CHECK(train[i] - train[i - 1] == 3);
    REQUIRE(test.size() == 4);
    CHECK(test.back() - test.front() >= 3);
    CHECK(problem->train_score(x).predictions == 4);
    CHECK_FALSE(problem->classifies());
}

TEST_CASE("problem: no more samples are scored than there are, each once") {
    ProblemOptions options;
    options.shards = {{0, 1, 2, 3, 4}};
    const auto problem = make_problem<double>(make_linear_regression<double>({1, false}),
                                              powers_of_two(5, 3), options);
    const Eigen::VectorXd x = Eigen::VectorXd::Zero(1);

    CHECK(samples_in(problem->train_score(x)) == std::vector<int>{0, 1, 2, 3, 4});
    CHECK(samples_in(problem->test_score(x)) == std::vector<int>{0, 1, 2});
}

TEST_CASE("problem: a score has no decay in it, and labels can be right or wrong") {
    const auto data = clouds(300, 100);
    const auto plain = mlp_problem<float>(data, {.batch = 4});
    const auto decayed = mlp_problem<float>(data, {.batch = 4, .weight_decay = 10});

    CHECK(plain->train_score(plain->start()).loss == decayed->train_score(plain->start()).loss);
    CHECK(plain->classifies());
}

}  // namespace
}  // namespace paceline::problem_test
