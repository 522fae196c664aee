#include "algorithms/coders/dgc_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "algorithms/compression/half.hpp"
#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Updates u and v of one part of a tensor in one pass.
void accumulate(const DgcOptions& options, std::span<const double> g, std::span<double> u,
                std::span<double> v) {
    const double beta = options.momentum_correction ? options.momentum : 0;
    const double kept = options.accumulation ? 1 : 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double velocity = beta * u[i] + g[i];
        const double step = options.nesterov ? beta * velocity + g[i] : velocity;
        u[i] = velocity;
        v[i] = kept * v[i] + step;
    }
}

// Accumulates a tensor and selects from it. The exact selection works on parts still in the cache.
bool accumulate_and_select(const DgcOptions& options, double density, double guess,
                           std::span<const double> g, std::span<double> u, std::span<double> v,
                           DgcMemory& memory) {
    constexpr std::size_t part = 1024;
    if (options.selection.method == Selection::sampled) {
        accumulate(options, g, u, v);
        return select_sampled(v, density, memory.random, memory.scratch, options.selection.share);
    }
    begin_exact(memory.scratch);
    for (std::size_t first = 0; first < v.size(); first += part) {
        const std::size_t size = std::min(part, v.size() - first);
        accumulate(options, g.subspan(first, size), u.subspan(first, size), v.subspan(first, size));
        look_at(v, first, first + size, guess, memory.scratch);
    }
    memory.found = memory.scratch.count;
    return finish_exact(v, kept_entries(static_cast<std::int64_t>(v.size()), density),
                        memory.scratch);
}

// Many entries lie just below the threshold, so the guess moves towards it while far more entries
// than are kept reach it. If too few did, the next guess is slightly below the least magnitude
// sent.
double next_guess(double guess, double least, std::size_t found, std::size_t kept) {
    constexpr double begin = 0.97;
    if (found < kept) return begin * least;
    return found > 3 * kept ? (guess + least) / 2 : guess;
}

// Moves the selected entries of a tensor to `sent` and returns their least magnitude.
double take(bool masking, std::int64_t offset, std::span<double> u, std::span<double> v,
            std::span<const std::int64_t> selected, SparseVector& sent) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t i : selected) {
        const auto at = static_cast<std::size_t>(i);
        sent.positions.push_back(offset + i);
        sent.values.push_back(v[at]);
        least = std::min(least, std::abs(v[at]));
        v[at] = 0;
        if (masking) u[at] = 0;
    }
    return least;
}

void append_nan(std::int64_t offset, std::int64_t count, SparseVector& sent) {
    for (std::int64_t i = 0; i < count; ++i) {
        sent.positions.push_back(offset + i);
        sent.values.push_back(std::numeric_limits<double>::quiet_NaN());
    }
}

void append_all(std::int64_t offset, std::span<const double> g, SparseVector& sent) {
    for (std::size_t i = 0; i < g.size(); ++i) {
        sent.positions.push_back(offset + static_cast<std::int64_t>(i));
        sent.values.push_back(g[i]);
    }
}

}  // namespace

DgcMemory make_dgc_memory(Eigen::Index entries, RandomStream random) {
    return {Eigen::VectorXd::Zero(entries), Eigen::VectorXd::Zero(entries), random, {}, {}, 0};
}

void clip_locally(double clip, int nodes, Eigen::VectorXd& g) {
    if (clip <= 0) return;
    const double most = clip * std::sqrt(static_cast<double>(nodes));
    const double length = norm(g);
    if (length > most) g *= most / length;
}

SparseVector compress(const DgcOptions& options, const LayoutPtr& layout, double density,
                      bool whole, const Eigen::VectorXd& g, DgcMemory& memory) {
    PACELINE_CHECK(g.size() == layout->entries() && memory.velocity.size() == g.size(),
                   "gradient and memory have the layout's size");
    SparseVector sent{layout, {}, {}};
    memory.guess.resize(layout->tensors().size(), std::numeric_limits<double>::infinity());
    for (std::size_t j = 0; j < layout->tensors().size(); ++j) {
        const std::int64_t offset = layout->offset(j);
        const auto n = static_cast<std::size_t>(layout->tensors()[j].entries());
        const std::span<const double> own(g.data() + offset, n);
        if (!layout->tensors()[j].compressible()) {
            if (whole) append_all(offset, own, sent);
            continue;
        }
        const std::span<double> u(memory.velocity.data() + offset, n);
        const std::span<double> v(memory.accumulated.data() + offset, n);
        double& guess = memory.guess[j];
        if (accumulate_and_select(options, density, guess, own, u, v, memory)) {
            const auto selected = memory.scratch.selected();
            const double least = take(options.masking, offset, u, v, selected, sent);
            guess = next_guess(guess, least, memory.found, selected.size());
        } else {
            append_nan(offset, kept_entries(static_cast<std::int64_t>(n), density), sent);
        }
    }
    if (options.format.half) cast_to_half(sent.values);
    return sent;
}

}  // namespace paceline
