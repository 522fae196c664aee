#include "sim/collectives/plans/nccl.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Algorithm = Nccl::Algorithm;
using NcclProtocol = Nccl::Protocol;
using Operation = Nccl::Operation;
using OfProtocols = std::array<double, 3>;  // LL, LL128, Simple

enum class Hop : std::uint8_t { nvlink, pcie, network };

constexpr std::array all_algorithms{Algorithm::tree, Algorithm::ring, Algorithm::nvls};
constexpr std::array all_protocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

template <class Choice>
constexpr std::size_t at(Choice choice) {
    return static_cast<std::size_t>(choice);
}

// --- the library's table; us and GB/s ---

// [ring, tree, nvls]
constexpr std::array<OfProtocols, 3> base_latency{{{6.6, 14.0, 8.4}, {6.8, 14.0, 8.4}, {0, 0, 0}}};
// [nvlink, pcie, network][ring, tree, nvls]
constexpr std::array<std::array<OfProtocols, 3>, 3> hop_latency{{
    {{{0.6, 1.9, 3.4}, {0.6, 1.25, 4.0}, {0, 0, 25}}},
    {{{1.0, 2.5, 5.7}, {1.0, 1.9, 4.0}, {0, 0, 0}}},
    {{{2.7, 4.0, 14.0}, {5.0, 8.5, 14.0}, {0, 0, 18}}},
}};
using OfMachines = std::array<double, 3>;  // on one machine, two, more
constexpr std::array<OfMachines, 4> most_rate_of_ll{
    {{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr std::array<OfMachines, 4> most_per_channel_of_tree{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr std::array<OfMachines, 4> most_per_channel_of_tree_by_ll128{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<double, 4> most_per_channel_of_ring_by_ll128{20.0, 20.0, 36.7, 40.0};
constexpr std::array<double, 4> efficiency_of_switch_sums{0, 0, 0.85, 0.74};
constexpr double network_overhead = 1.0;  // of a host with Intel's processors

// By size, 64 bytes to 512 MB in powers of two.
constexpr std::array<std::array<double, 24>, 3> tree_correction{{
    {1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5,
     .4,  .4,  .5,  .6,  .7, .8, .9, 1., 1., 1., 1., 1.},
    {1.0, 1.0, 1.0, 1.0, 1., .9, .8, .8, .8, .7, .6, .6,
     .6,  .6,  .6,  .6,  .8, .9, .9, .9, .9, 1., 1., 1.},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}};

// --- what was measured ---

constexpr double step_of_simple = 11;  // us; NVIDIA/nccl issue 2409: 10 to 12

constexpr double gigabytes_per_second(Bandwidth rate) {
    return static_cast<double>(rate.bits_per_second) / 8e9;
}

Duration microseconds(double us) {
    return Duration{std::llround(us * 1e6)};
}

int floor_log2(std::uint64_t x) {
    return static_cast<int>(std::bit_width(x)) - 1;
}

// One operation of a group.
class Tuning {
  public:
    Tuning(const Nccl& library, Operation operation, int ranks, int machines)
        : library_(library),
          operation_(operation),
          ranks_(ranks),
          machines_(machines),
          line_(gigabytes_per_second(
              machines == 1 ? library.inside : std::min(library.between, inside_or_network()))),
          channels_(machines == 1 ? channels_inside() : 2 * library.cards) {}

    [[nodiscard]] bool has(Algorithm algorithm, NcclProtocol protocol) const {
        if (algorithm == Algorithm::nvls)
            return protocol == NcclProtocol::simple && library_.has_switch_sums && machines_ == 1 &&
                   operation_ == Operation::all_reduce &&
                   efficiency_of_switch_sums[generation()] > 0;
        if (algorithm == Algorithm::tree && operation_ != Operation::all_reduce) return false;
        // LL128 relies on stores that arrive in order: NVLink does that, a path over the host not.
        return protocol != NcclProtocol::ll128 || (library_.over_nvlink && library_.devices > 1);
    }

    // GB/s, of the bytes that a device passes on.
    [[nodiscard]] double bus_bandwidth(Algorithm algorithm, NcclProtocol protocol) const {
        const double most_ll = most_by_ll();
        if (algorithm == Algorithm::nvls)
            return 2 * line_ * efficiency_of_switch_sums[generation()] * (channels_ - 1) /
                   channels_;
        if (algorithm == Algorithm::ring) {
            if (protocol == NcclProtocol::ll) return std::min(most_ll, line_ / 2);
            if (protocol == NcclProtocol::simple) return line_;
            return std::min(0.92 * line_,
                            channels_ * most_per_channel_of_ring_by_ll128[generation()]);
        }
        const double bus =
            std::min(0.92 * line_, channels_ * most_per_channel_of_tree[generation()][scale()]);
        // A tree that is not balanced over two devices of a machine: its search is for others.
        const double share =
            library_.generation >= GpuGeneration::hopper || library_.devices == 1 ? 0.85 : 1;
        if (protocol == NcclProtocol::ll) return share * std::min(bus / 3.8, most_ll);
        if (protocol == NcclProtocol::simple) return share * bus;
        return share *
               std::min(bus * (machines_ == 1 ? 7.0 / 9 : 120.0 / 128),
                        channels_ * most_per_channel_of_tree_by_ll128[generation()][scale()]);
    }

    // us, by the library's model.
    [[nodiscard]] double estimate(Algorithm algorithm, NcclProtocol protocol, Bytes size) const {
        const auto bytes = static_cast<double>(size.count);
        const double ratio =
            algorithm == Algorithm::tree ? 0.5 : static_cast<double>(ranks_) / steps();
        double bandwidth = bus_bandwidth(algorithm, protocol) * ratio;
        const int log_size = floor_log2(static_cast<std::uint64_t>(size.count) >> 6U);
        if (algorithm == Algorithm::tree && log_size >= 0 && log_size < 23)
            bandwidth *= tree_correction[at(protocol)][static_cast<std::size_t>(log_size)];
        double latency = this->latency(algorithm, protocol);
        if (algorithm == Algorithm::ring && protocol == NcclProtocol::simple && machines_ > 1 &&
            operation_ == Operation::all_reduce &&
            size.count / (std::int64_t{channels_} * ranks_) >= 64)
            latency *= library_.generation == GpuGeneration::volta ? 1.9 : 1.4;
        return latency + bytes / (1000 * bandwidth);
    }

    [[nodiscard]] int channels_for(Algorithm algorithm, NcclProtocol protocol, Bytes size) const {
        if (algorithm == Algorithm::nvls) return channels_;
        std::int64_t per_channel = std::int64_t{8} * 512;
        if (protocol == NcclProtocol::ll128) per_channel = std::int64_t{8} * 640;
        if (protocol == NcclProtocol::simple) per_channel = std::int64_t{64} * 512;
        if (protocol == NcclProtocol::ll && algorithm == Algorithm::ring) per_channel *= ranks_;
        return static_cast<int>(std::clamp<std::int64_t>(size.count / per_channel, 1, channels_));
    }

    // us of a hop, all in all.
    [[nodiscard]] double hop(Algorithm algorithm, NcclProtocol protocol, bool between) const {
        const Hop kind = between ? Hop::network : inside();
        const double simple = hop_latency[at(kind)][at(Algorithm::ring)][at(NcclProtocol::simple)];
        return hop_latency_of(kind, algorithm, protocol) * std::max(1.0, step_of_simple / simple);
    }

    // GB/s of a hop.
    [[nodiscard]] double line(bool between) const {
        return gigabytes_per_second(between ? library_.between : library_.inside);
    }
    [[nodiscard]] double most_by_ll() const {
        return most_rate_of_ll[machines_ == 1 ? generation() : 0][scale()];
    }
    [[nodiscard]] int channels() const { return channels_; }
    [[nodiscard]] int machines() const { return machines_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    [[nodiscard]] double efficiency() const { return efficiency_of_switch_sums[generation()]; }

  private:
    [[nodiscard]] std::size_t generation() const { return at(library_.generation); }
    [[nodiscard]] std::size_t scale() const {
        return static_cast<std::size_t>(std::min(machines_, 3) - 1);
    }
    [[nodiscard]] Hop inside() const { return library_.over_nvlink ? Hop::nvlink : Hop::pcie; }
    [[nodiscard]] Bandwidth inside_or_network() const {
        return library_.devices > 1 ? library_.inside : library_.between;
    }
    // One for each NVLink of 25 GB/s, doubled.
    [[nodiscard]] int channels_inside() const {
        if (!library_.over_nvlink) return 2;
        return std::clamp(
            2 * static_cast<int>(std::lround(gigabytes_per_second(library_.inside) / 25)), 2, 24);
    }
    [[nodiscard]] int steps() const {
        switch (operation_) {
            case Operation::all_reduce:
                return 2 * (ranks_ - 1);
            case Operation::all_gather:
            case Operation::reduce_scatter:
                return ranks_ - 1;
            case Operation::broadcast:
            case Operation::reduce:
                break;
        }
        return ranks_;
    }
    // With one device on each machine nothing hides the network's latency: that of trees counts.
    [[nodiscard]] double hop_latency_of(Hop kind, Algorithm algorithm,
                                        NcclProtocol protocol) const {
        const bool exposed = kind == Hop::network && machines_ == ranks_;
        return hop_latency[at(kind)][at(exposed ? Algorithm::tree : algorithm)][at(protocol)];
    }
    [[nodiscard]] double latency(Algorithm algorithm, NcclProtocol protocol) const {
        const double base = base_latency[at(algorithm)][at(protocol)];
        double inside = hop_latency_of(this->inside(), algorithm, protocol);
        const double between = hop_latency_of(Hop::network, algorithm, protocol);
        if (algorithm == Algorithm::nvls) return inside;
        const int below_first = ranks_ / machines_ - 1;
        if (algorithm == Algorithm::tree)
            return base + 2 * (below_first * inside +
                               floor_log2(static_cast<std::uint64_t>(machines_)) * between);
        if (operation_ == Operation::broadcast || operation_ == Operation::reduce)
            return base + (machines_ == 1 ? inside : between);
        if (machines_ > 1)
            inside =
                std::max(inside, network_overhead * (protocol == NcclProtocol::simple ? 3 : 1));
        const int halves = operation_ == Operation::all_reduce ? 2 : 1;
        const int steps_between = machines_ == 1 ? 0 : halves * (machines_ - 1);
        return base + (steps() - steps_between) * inside + steps_between * between;
    }

    const Nccl& library_;
    Operation operation_;
    int ranks_;
    int machines_;
    double line_;
    int channels_;
};

// Bytes of a channel that go as one message. Of trees, LL128 halves them for short vectors.
std::int64_t slice_of_channel(const Tuning& tuning, const NcclChoice& choice, Bytes size) {
    constexpr std::int64_t kibibyte = 1024;
    if (choice.protocol == NcclProtocol::ll) return 32 * kibibyte;
    if (choice.protocol == NcclProtocol::simple)
        return (choice.algorithm == Algorithm::ring ? 1024 : 512) * kibibyte;
    std::int64_t slice = 576 * kibibyte;
    if (choice.algorithm != Algorithm::tree) return slice;
    const double per_machine = static_cast<double>(tuning.ranks()) / tuning.machines();
    const double steps =
        1 + floor_log2(static_cast<std::uint64_t>(tuning.machines())) + 0.1 * per_machine;
    const auto slices = [&] {
        const std::int64_t whole = size.count / (choice.channels * slice);
        return static_cast<double>(whole);
    };
    while (slices() < steps * 64 / per_machine && slice > 128 * kibibyte) slice /= 2;
    while (slices() < steps * 16 / per_machine && slice > 32 * kibibyte) slice /= 2;
    return slice;
}

Bytes on_wire(const Tuning& tuning, const NcclChoice& choice, Bytes size) {
    const std::int64_t n = tuning.ranks();
    if (choice.algorithm == Algorithm::nvls) return {size.count + (size.count + n - 1) / n};
    if (choice.protocol == NcclProtocol::ll) return {2 * size.count};
    if (choice.protocol == NcclProtocol::simple) return size;
    return {size.count + (size.count + 14) / 15};
}

// What the bound on the rate adds to the wire's time, in us per byte of payload.
double beyond_wire(const Tuning& tuning, const NcclChoice& choice, Bytes size, bool between) {
    const double line = tuning.line(between);
    const double wire =
        static_cast<double>(choice.on_wire.count) / static_cast<double>(size.count) / (1000 * line);
    if (choice.algorithm == Algorithm::nvls) return wire / tuning.efficiency() - wire;
    double rate = line;
    if (choice.protocol == NcclProtocol::ll) rate = std::min(tuning.most_by_ll(), line / 2);
    if (choice.protocol == NcclProtocol::ll128) rate = 0.92 * line;
    rate *= static_cast<double>(choice.channels) / tuning.channels();
    return std::max(0.0, 1 / (1000 * rate) - wire);
}

// The payload of one message.
double message_of(const Tuning& tuning, Operation operation, const NcclChoice& choice, Bytes size) {
    const auto bytes = static_cast<double>(size.count);
    if (choice.algorithm == Algorithm::nvls) return bytes;
    double part = bytes;
    if (choice.algorithm == Algorithm::tree)
        part /= 2;
    else if (operation != Operation::broadcast && operation != Operation::reduce)
        part /= tuning.ranks();
    const double on_wire = static_cast<double>(choice.on_wire.count) / bytes;
    return std::min(part, static_cast<double>(choice.slices.slice.count) / on_wire);
}

}  // namespace

Nccl among_machines(Nccl library) {
    library.between.bits_per_second /= library.cards;
    library.devices = library.cards = 1;
    return library;
}

std::string_view name_of(Algorithm algorithm) {
    constexpr std::array<std::string_view, 3> names{"ring", "tree", "NVLS"};
    return names[at(algorithm)];
}

std::string_view name_of(NcclProtocol protocol) {
    constexpr std::array<std::string_view, 3> names{"LL", "LL128", "Simple"};
    return names[at(protocol)];
}

NcclChoice nccl_choice(const Nccl& library, Operation operation, Bytes size, int n) {
    PACELINE_CHECK(n > 1, "a collective has two members or more");
    const int machines = (n + library.devices - 1) / library.devices;
    const Tuning tuning(library, operation, n, machines);
    NcclChoice choice;
    choice.on_wire = size;
    if (size == Bytes{0}) return choice;
    const auto forced = [&](Algorithm algorithm, NcclProtocol protocol) {
        const auto has_any = [&](Algorithm a) {
            return std::ranges::any_of(all_protocols,
                                       [&](NcclProtocol p) { return tuning.has(a, p); });
        };
        if (library.algorithm && has_any(*library.algorithm) && algorithm != *library.algorithm)
            return false;
        return !library.protocol || !tuning.has(algorithm, *library.protocol) ||
               protocol == *library.protocol;
    };
    double least = std::numeric_limits<double>::max();
    for (const Algorithm algorithm : all_algorithms)
        for (const NcclProtocol protocol : all_protocols) {
            if (!tuning.has(algorithm, protocol) || !forced(algorithm, protocol)) continue;
            const double estimate = tuning.estimate(algorithm, protocol, size);
            if (estimate >= least) continue;
            least = estimate;
            choice.algorithm = algorithm;
            choice.protocol = protocol;
        }
    choice.estimate = microseconds(least);
    choice.channels = tuning.channels_for(choice.algorithm, choice.protocol, size);
    choice.on_wire = on_wire(tuning, choice, size);
    const bool is_ring = choice.algorithm == Algorithm::ring;
    // Simple moves two of the eight steps of a ring's buffer at a time.
    choice.slices.slots = is_ring && choice.protocol == NcclProtocol::simple ? 4 : 8;
    choice.slices.slice = {slice_of_channel(tuning, choice, size) * choice.channels};
    if (choice.algorithm == Algorithm::nvls) choice.slices.slice = choice.on_wire;
    if (choice.algorithm == Algorithm::tree)
        choice.slices.slice = {std::max<std::int64_t>(choice.slices.slice.count / 2, 1)};
    const bool is_rooted = operation == Operation::broadcast || operation == Operation::reduce;
    if (machines > 1 && !is_rooted && n % library.devices == 0)
        choice.rings = std::min(library.cards, library.devices);
    const double message = message_of(tuning, operation, choice, size);
    const auto cost_of = [&](bool between) {
        if (tuning.line(between) == 0) return Duration{};
        return microseconds(tuning.hop(choice.algorithm, choice.protocol, between) +
                            message * beyond_wire(tuning, choice, size, between));
    };
    choice.cost = {std::max(Duration{}, cost_of(false) - library.inside_latency), cost_of(true),
                   choice.protocol != NcclProtocol::simple};
    choice.slices.slice = {std::max<std::int64_t>(choice.slices.slice.count / choice.rings, 1)};
    choice.start_up =
        std::max(Duration{}, microseconds(base_latency[at(choice.algorithm)][at(choice.protocol)]) -
                                 least_nccl_start_up);
    return choice;
}

double nccl_share_of_device(const Nccl& library, int n) {
    constexpr std::array<int, 4> multiprocessors{80, 108, 132, 148};  // by generation
    if (n < 2) return 0;
    constexpr Bytes large{std::int64_t{1} << 30};
    const NcclChoice choice = nccl_choice(library, Nccl::Operation::all_reduce, large, n);
    return static_cast<double>(choice.channels) /
           multiprocessors[static_cast<std::size_t>(library.generation)];
}

}  // namespace paceline
