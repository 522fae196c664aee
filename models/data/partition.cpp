#include "models/data/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

void check_sizes(Eigen::Index samples, int nodes) {
    PACELINE_CHECK(nodes >= 1, "samples are dealt to a node or more");
    PACELINE_CHECK(samples >= nodes, "every node gets a sample");
}

/// Returns the begin of block i of n blocks. Block sizes differ by at most one; the first are
/// larger.
std::size_t block_begin(std::size_t samples, std::size_t n, std::size_t i) {
    return i * (samples / n) + std::min(i, samples % n);
}

std::vector<int> all_of(Eigen::Index samples) {
    std::vector<int> order(static_cast<std::size_t>(samples));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

void shuffle(std::span<int> order, RandomStream& stream) {
    for (std::size_t left = order.size(); left > 1; --left) {
        boost::random::uniform_int_distribution<std::size_t> choice(0, left - 1);
        std::swap(order[left - 1], order[choice(stream)]);
    }
}

void sort_by_label(std::span<int> order, const Eigen::VectorXi& labels) {
    std::ranges::sort(order, [&](int a, int b) {
        return labels[a] != labels[b] ? labels[a] < labels[b] : a < b;
    });
}

/// Cuts the first `shuffled` of the order and the rest separately, so that every shard gets a part
/// of both, and the total sizes differ by at most one.
Shards cut(std::span<const int> order, std::size_t shuffled, int nodes) {
    const auto n = static_cast<std::size_t>(nodes);
    const auto rest_begin = [&](std::size_t i) {
        return shuffled + block_begin(order.size(), n, i) - block_begin(shuffled, n, i);
    };
    Shards shards(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto append = [&](std::size_t from, std::size_t to) {
            const std::span<const int> part = order.subspan(from, to - from);
            shards[i].insert(shards[i].end(), part.begin(), part.end());
        };
        append(block_begin(shuffled, n, i), block_begin(shuffled, n, i + 1));
        append(rest_begin(i), rest_begin(i + 1));
    }
    return shards;
}

/// Returns shares that sum to 1. Works in logarithms, G(alpha) = G(alpha + 1) U^(1/alpha), because
/// for small alpha all of the variates themselves would underflow to 0.
std::vector<double> draw_dirichlet(std::size_t n, double alpha, RandomStream& stream) {
    boost::random::uniform_01<double> uniform;
    std::vector<double> shares(n);
    for (double& share : shares) {
        const double larger = elementary::log(draw_gamma(stream, alpha + 1));
        share = larger + elementary::log(1 - uniform(stream)) / alpha;
    }
    const double most = *std::ranges::max_element(shares);
    for (double& share : shares) share = elementary::exp(share - most);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (double& share : shares) share /= sum;
    return shares;
}

void deal(std::span<const int> samples, std::span<const double> shares, Shards& shards) {
    double dealt_share = 0;
    std::size_t dealt = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        dealt_share += shares[i];
        const double cut = std::round(dealt_share * static_cast<double>(samples.size()));
        const std::size_t to = i + 1 == shares.size()
                                   ? samples.size()
                                   : std::min(static_cast<std::size_t>(cut), samples.size());
        for (; dealt < to; ++dealt) shards[i].push_back(samples[dealt]);
    }
}

void fill_empty(Shards& shards) {
    const auto smaller = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    for (std::vector<int>& shard : shards) {
        if (!shard.empty()) continue;
        std::vector<int>& largest = *std::ranges::max_element(shards, smaller);
        shard.push_back(largest.back());
        largest.pop_back();
    }
}

}  // namespace

Shards partition_iid(int samples, int nodes, RandomStream& stream) {
    check_sizes(samples, nodes);
    std::vector<int> order = all_of(samples);
    shuffle(order, stream);
    return cut(order, order.size(), nodes);
}

Shards partition_contiguous(int samples, int nodes) {
    check_sizes(samples, nodes);
    return cut(all_of(samples), 0, nodes);
}

Shards partition_label_sorted(const Eigen::VectorXi& labels, int nodes) {
    check_sizes(labels.size(), nodes);
    std::vector<int> order = all_of(labels.size());
    sort_by_label(order, labels);
    return cut(order, 0, nodes);
}

Shards partition_partly_shuffled(const Eigen::VectorXi& labels, int nodes, double share,
                                 RandomStream& stream) {
    check_sizes(labels.size(), nodes);
    PACELINE_CHECK(share >= 0 && share <= 1, "a share is in [0, 1]");
    std::vector<int> order = all_of(labels.size());
    shuffle(order, stream);
    const double shuffled = std::round(share * static_cast<double>(order.size()));
    sort_by_label(std::span(order).subspan(static_cast<std::size_t>(shuffled)), labels);
    return cut(order, static_cast<std::size_t>(shuffled), nodes);
}

Shards partition_dirichlet(const Eigen::VectorXi& labels, int nodes, double alpha,
                           RandomStream& stream) {
    check_sizes(labels.size(), nodes);
    PACELINE_CHECK(alpha > 0 && std::isfinite(alpha), "Dirichlet's alpha is positive");
    PACELINE_CHECK(labels.minCoeff() >= 0, "labels are not negative");
    Shards shards(static_cast<std::size_t>(nodes));
    std::vector<int> order = all_of(labels.size());
    shuffle(order, stream);
    // Sort by label; the order within each label remains random.
    std::ranges::stable_sort(order, [&](int a, int b) { return labels[a] < labels[b]; });
    for (std::size_t from = 0; from < order.size();) {
        std::size_t to = from;
        while (to < order.size() && labels[order[to]] == labels[order[from]]) ++to;
        const std::vector<double> shares = draw_dirichlet(shards.size(), alpha, stream);
        deal(std::span(order).subspan(from, to - from), shares, shards);
        from = to;
    }
    fill_empty(shards);
    return shards;
}

Shards partition_by_group(std::span<const int> groups, int nodes) {
    check_sizes(static_cast<Eigen::Index>(groups.size()), nodes);
    Shards shards(static_cast<std::size_t>(nodes));
    for (std::size_t sample = 0; sample < groups.size(); ++sample)
        shards[static_cast<std::size_t>(groups[sample] % nodes)].push_back(
            static_cast<int>(sample));
    return shards;
}

}  // namespace paceline
