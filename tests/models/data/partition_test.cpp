#include "models/data/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "sim/engine/check.hpp"

namespace paceline::partition_test {
namespace {

void check_every_sample_once(const Shards& shards, int samples, int nodes) {
    REQUIRE(shards.size() == static_cast<std::size_t>(nodes));
    std::vector<int> all;
    for (const std::vector<int>& shard : shards) all.insert(all.end(), shard.begin(), shard.end());
    std::sort(all.begin(), all.end());
    std::vector<int> expected(static_cast<std::size_t>(samples));
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(all == expected);
}

void check_equal_sizes(const Shards& shards) {
    for (std::size_t i = 1; i < shards.size(); ++i) CHECK(shards[i - 1].size() >= shards[i].size());
    CHECK(shards.front().size() <= shards.back().size() + 1);
}

Eigen::VectorXi random_labels(int samples, int classes, RandomStream& stream) {
    boost::random::uniform_int_distribution<int> choice(0, classes - 1);
    Eigen::VectorXi labels(samples);
    for (int& label : labels) label = choice(stream);
    return labels;
}

std::size_t distinct_labels(const std::vector<int>& shard, const Eigen::VectorXi& labels) {
    std::set<int> seen;
    for (const int sample : shard) seen.insert(labels[sample]);
    return seen.size();
}

/// Mean over nodes of the sum over labels of |label's share of the shard - its share of all| / 2.
double skew(const Shards& shards, const Eigen::VectorXi& labels, int classes) {
    double total = 0;
    for (const std::vector<int>& shard : shards)
        for (int label = 0; label < classes; ++label) {
            const auto here = std::count_if(shard.begin(), shard.end(),
                                            [&](int sample) { return labels[sample] == label; });
            const auto all = (labels.array() == label).count();
            total += std::abs(static_cast<double>(here) / static_cast<double>(shard.size()) -
                              static_cast<double>(all) / static_cast<double>(labels.size()));
        }
    return total / 2 / static_cast<double>(shards.size());
}

TEST_CASE("partition, property: every sample is in one shard, and sizes are equal where promised") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        RandomStream stream = RandomStreams(seed).stream("test");
        const int nodes = boost::random::uniform_int_distribution<int>(1, 20)(stream);
        const int samples = boost::random::uniform_int_distribution<int>(nodes, 300)(stream);
        const int classes = boost::random::uniform_int_distribution<int>(1, 10)(stream);
        const Eigen::VectorXi labels = random_labels(samples, classes, stream);

        std::vector<Shards> equal{partition_iid(samples, nodes, stream),
                                  partition_contiguous(samples, nodes),
                                  partition_label_sorted(labels, nodes)};
        for (const double share : {0.0, 0.3, 0.9, 1.0})
            equal.push_back(partition_partly_shuffled(labels, nodes, share, stream));
        for (const Shards& shards : equal) {
            check_every_sample_once(shards, samples, nodes);
            check_equal_sizes(shards);
        }
        for (const double alpha : {1e-4, 0.1, 1.0, 100.0}) {
            const Shards shards = partition_dirichlet(labels, nodes, alpha, stream);
            check_every_sample_once(shards, samples, nodes);
            for (const std::vector<int>& shard : shards) CHECK(!shard.empty());
        }
    }
}

TEST_CASE("partition: contiguous shards are blocks in order") {
    CHECK(partition_contiguous(7, 3) == Shards{{0, 1, 2}, {3, 4}, {5, 6}});
}

TEST_CASE("partition: label-sorted shards are blocks of the sorted samples") {
    Eigen::VectorXi labels(6);
    labels << 2, 0, 1, 0, 2, 1;
    CHECK(partition_label_sorted(labels, 3) == Shards{{1, 3}, {2, 5}, {0, 4}});
}

TEST_CASE("partition: label-sorted shards hold as few labels as blocks can") {
    RandomStream stream = RandomStreams(1).stream("test");
    const Eigen::VectorXi labels = random_labels(1600, 10, stream);

    // A block no larger than any class spans two classes at most.
    for (const std::vector<int>& shard : partition_label_sorted(labels, 16))
        CHECK(distinct_labels(shard, labels) <= 2);
}

TEST_CASE("partition: partly shuffled is label-sorted at share 0, and as skewed as it is sorted") {
    RandomStream stream = RandomStreams(2).stream("test");
    const Eigen::VectorXi labels = random_labels(16000, 10, stream);
    const double sorted = skew(partition_label_sorted(labels, 16), labels, 10);

    CHECK(partition_partly_shuffled(labels, 16, 0, stream) == partition_label_sorted(labels, 16));
    for (const double share : {0.3, 0.7, 1.0}) {
        CAPTURE(share);
        const double partly =
            skew(partition_partly_shuffled(labels, 16, share, stream), labels, 10);
        CHECK(std::abs(partly - (1 - share) * sorted) < 0.05);
    }
}

// A uniform one of n shards holds a sample with probability 1/n, and a pair with about 1/n^2.
TEST_CASE("partition: iid deals every sample to every node alike") {
    RandomStream stream = RandomStreams(3).stream("test");
    Eigen::MatrixXd times = Eigen::MatrixXd::Zero(8, 4);
    int together = 0;
    for (int run = 0; run < 4000; ++run) {
        const Shards shards = partition_iid(8, 4, stream);
        for (int i = 0; i < 4; ++i) {
            const std::vector<int>& shard = shards[static_cast<std::size_t>(i)];
            for (const int sample : shard) times(sample, i) += 1;
            together += std::count(shard.begin(), shard.end(), 0) +
                                    std::count(shard.begin(), shard.end(), 7) ==
                                2
                            ? 1
                            : 0;
        }
    }
    CHECK((times.array() - 1000).abs().maxCoeff() < 5 * std::sqrt(4000 * 0.25 * 0.75));
    CHECK(std::abs(together - 4000 / 7.0) < 5 * std::sqrt(4000 * 6 / 49.0));
}

TEST_CASE("partition: Dirichlet's shares of a label have the law's mean and variance") {
    const int n = 5;
    const Eigen::VectorXi labels = Eigen::VectorXi::Zero(1000);
    for (const double alpha : {0.2, 1.0, 10.0}) {
        CAPTURE(alpha);
        RandomStream stream = RandomStreams(4).stream("test");
        double square = 0;
        double first = 0;
        for (int run = 0; run < 2000; ++run) {
            const Shards shards = partition_dirichlet(labels, n, alpha, stream);
            first += static_cast<double>(shards[0].size()) / 1000;
            for (const std::vector<int>& shard : shards)
                square += std::pow(static_cast<double>(shard.size()) / 1000 - 0.2, 2);
        }
        const double variance = 0.2 * 0.8 / (n * alpha + 1);
        CHECK(first / 2000 == doctest::Approx(0.2).epsilon(5 * std::sqrt(variance / 2000) / 0.2));
        CHECK(square / (2000 * n) == doctest::Approx(variance).epsilon(0.1));
    }
}

TEST_CASE(
    "partition: Dirichlet is like iid for a large alpha, and one node per label for a small") {
    RandomStream stream = RandomStreams(5).stream("test");
    const Eigen::VectorXi labels = random_labels(10000, 10, stream);

    const double iid = skew(partition_iid(10000, 10, stream), labels, 10);
    CHECK(skew(partition_dirichlet(labels, 10, 1e6, stream), labels, 10) < iid + 0.01);
    // Here nearly all samples of a label are at a single node.
    const Shards few = partition_dirichlet(labels, 10, 1e-3, stream);
    std::size_t pairs = 0;
    for (const std::vector<int>& shard : few) pairs += distinct_labels(shard, labels);
    CHECK(pairs <= 10 + 10 + 2);  // one node per label, and one sample per node left without any
    CHECK(skew(few, labels, 10) > 0.6);
}

TEST_CASE("partition: a seed gives the same shards, and another seed others") {
    const auto deal = [](std::uint64_t seed) {
        RandomStream stream = RandomStreams(seed).stream("partition");
        const Eigen::VectorXi labels = random_labels(200, 5, stream);
        return std::vector<Shards>{partition_iid(200, 7, stream),
                                   partition_partly_shuffled(labels, 7, 0.3, stream),
                                   partition_dirichlet(labels, 7, 0.5, stream)};
    };
    CHECK(deal(1) == deal(1));
    for (std::size_t kind = 0; kind < 3; ++kind) CHECK(deal(1)[kind] != deal(2)[kind]);
}

TEST_CASE("partition: fewer samples than nodes are refused") {
    RandomStream stream = RandomStreams(1).stream("test");
    CHECK_THROWS_AS(partition_iid(3, 4, stream), LogicError);
    CHECK_THROWS_AS(partition_contiguous(3, 0), LogicError);
    CHECK_THROWS_AS(partition_dirichlet(Eigen::VectorXi::Zero(4), 2, 0, stream), LogicError);
}

TEST_CASE("partition by group: groups stay whole, and nodes take them in turn") {
    const std::vector<int> groups{2, 0, 1, 3, 2, 0, 4};
    CHECK(partition_by_group(groups, 5) == Shards{{1, 5}, {2}, {0, 4}, {3}, {6}});
    CHECK(partition_by_group(groups, 2) == Shards{{0, 1, 4, 5, 6}, {2, 3}});
    CHECK(partition_by_group(groups, 1) == Shards{{0, 1, 2, 3, 4, 5, 6}});
}

}  // namespace
}  // namespace paceline::partition_test
