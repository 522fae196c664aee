#include "sim/collectives/plans/nccl_tuning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace paceline {

namespace {

using Algorithm = Nccl::Algorithm;
using NcclProtocol = Nccl::Protocol;
using Operation = Nccl::Operation;
using nccl_table::at;
using nccl_table::Hop;

constexpr int most_heads = 32;              // NCCL_MAX_NVLS_ARITY
constexpr int most_devices_of_collnet = 8;  // NCCL_MAX_DIRECT_ARITY + 1

constexpr double gigabytes_per_second(Bandwidth rate) {
    return static_cast<double>(rate.bits_per_second) / 8e9;
}

int floor_log2(std::uint64_t x) {
    return static_cast<int>(std::bit_width(x)) - 1;
}

// One for each NVLink of 25 GB/s, doubled.
int channels_inside(const Nccl& library) {
    if (!library.over_nvlink) return 2;
    return std::clamp(2 * static_cast<int>(std::lround(gigabytes_per_second(library.inside) / 25)),
                      2, 24);
}

}  // namespace

NcclTuning::NcclTuning(const Nccl& library, Operation operation, int ranks)
    : library_(library),
      operation_(operation),
      ranks_(ranks),
      machines_((ranks + library.devices - 1) / library.devices),
      ring_line_(machines_ == 1 ? line(false) : line_over_machines(false)),
      tree_line_(machines_ == 1 ? line(false) : line_over_machines(machines_ == 2)),
      channels_(machines_ == 1 ? channels_inside(library) : 2 * library.cards) {}

bool NcclTuning::has(Algorithm algorithm, NcclProtocol protocol) const {
    if (algorithm > Algorithm::tree)
        return protocol == NcclProtocol::simple && operation_ == Operation::all_reduce &&
               has_in_switches(algorithm);
    if (algorithm == Algorithm::tree && operation_ != Operation::all_reduce) return false;
    // LL128 relies on stores that arrive in order: NVLink does that, a path over the host not.
    return protocol != NcclProtocol::ll128 || (library_.over_nvlink && library_.devices > 1);
}

bool NcclTuning::has_in_switches(Algorithm algorithm) const {
    const bool full = machines_ == 1 || ranks_ % library_.devices == 0;
    const bool by_network = library_.has_collnet && machines_ > 1 && full;
    const bool sums_inside =
        library_.has_switch_sums && efficiency_of_switches() > 0 && heads() > 1 && full;
    const bool few = library_.devices <= most_devices_of_collnet;
    switch (algorithm) {
        case Algorithm::nvls:
            return sums_inside && (machines_ == 1 || by_network);
        case Algorithm::nvls_tree:
            return sums_inside && machines_ > 1;
        case Algorithm::collnet_direct:
            return by_network && few && library_.devices > 1 && library_.over_nvlink &&
                   library_.over_switch;
        case Algorithm::collnet_chain:
            return by_network && few;
        case Algorithm::ring:
        case Algorithm::tree:
            break;
    }
    return true;
}

double NcclTuning::bus_bandwidth(Algorithm algorithm, NcclProtocol protocol) const {
    switch (algorithm) {
        case Algorithm::ring:
            if (protocol == NcclProtocol::ll) return std::min(most_by_ll(), ring_line_ / 2);
            if (protocol == NcclProtocol::simple) return ring_line_;
            return std::min(
                0.92 * ring_line_,
                channels_ * nccl_table::most_per_channel_of_ring_by_ll128[generation()]);
        case Algorithm::tree:
            return bandwidth_of_tree(protocol);
        case Algorithm::collnet_direct:
            return bandwidth_of_direct();
        case Algorithm::collnet_chain:
            return line_over_machines(true);
        case Algorithm::nvls:
        case Algorithm::nvls_tree:
            break;
    }
    return bandwidth_of_nvls(algorithm);
}

double NcclTuning::bandwidth_of_tree(NcclProtocol protocol) const {
    const double bus = std::min(
        0.92 * tree_line_, channels_ * nccl_table::most_per_channel_of_tree[generation()][scale()]);
    // A tree that is not balanced over two devices of a machine: its search is for others.
    const double share =
        library_.generation >= GpuGeneration::hopper || library_.devices == 1 ? 0.85 : 1;
    if (protocol == NcclProtocol::ll) return share * std::min(bus / 3.8, most_by_ll());
    if (protocol == NcclProtocol::simple) return share * bus;
    return share *
           std::min(
               bus * (machines_ == 1 ? 7.0 / 9 : 120.0 / 128),
               channels_ * nccl_table::most_per_channel_of_tree_by_ll128[generation()][scale()]);
}

double NcclTuning::bandwidth_of_nvls(Algorithm algorithm) const {
    const int h = heads();
    const double lane = line(false) / (h + 1);
    const double inside = 2 * searched(machines_ == 1 ? lane : std::min(lane, card())) *
                          efficiency_of_switches() * (h - 1) / h;
    if (machines_ == 1) return h * inside;
    const double between = searched(card());
    if (algorithm == Algorithm::nvls) return h * std::min(inside, between);
    return h * std::min({inside, (machines_ == 2 ? 2 : 1) * between,
                         nccl_table::most_per_channel_of_nvls_tree[generation()][scale()]});
}

// Of the rates that are at least half as fast as the first that works, the search takes the one
// with the most bandwidth over all channels; each is on a card and on all devices' lanes.
double NcclTuning::line_over_machines(bool raises_inside) const {
    const double lane =
        library_.devices > 1 ? line(false) : std::numeric_limits<double>::infinity();
    double first = 0;
    double best = 0;
    double channels = 0;
    for (const double rate : nccl_table::searched(library_.generation, machines_ == 1)) {
        const double here =
            std::min(std::floor(lane / rate), library_.cards * std::floor(card() / rate));
        if (here < 1) continue;
        if (first == 0) first = rate;
        if (rate < 0.49 * first || here * rate <= best * channels) continue;
        best = rate;
        channels = here;
    }
    if (channels == 0) return std::min(lane, line(true));
    return channels * (raises_inside ? raised(best, lane / channels) : best);
}

double NcclTuning::bandwidth_of_direct() const {
    const int g = library_.devices;
    const int h = heads();
    const double lane = line(false) * (g - 1) / (g + h - 2);
    double rate = searched(std::min(lane, card()));
    int channels = h;
    // Slow and many channels stay as they are; others are doubled.
    if (rate >= 25 && !(library_.generation >= GpuGeneration::hopper && rate < 50 && h > 4))
        channels = std::min({2 * h, g, most_devices_of_collnet});
    if (channels == h)
        rate = raised(rate, lane);
    else
        rate /= (channels + h - 1) / h;  // NOLINT(bugprone-integer-division): rounded up
    const double devices_per_channel = static_cast<double>(g) / channels;
    const double efficiency =
        library_.generation >= GpuGeneration::hopper ? nccl_table::efficiency_of_direct : 1;
    return channels * rate / ((devices_per_channel + 1) / 2) * efficiency;
}

double NcclTuning::estimate(Algorithm algorithm, NcclProtocol protocol, Bytes size) const {
    const auto bytes = static_cast<double>(size.count);
    const bool counts_steps = algorithm == Algorithm::ring || algorithm >= Algorithm::nvls;
    const double ratio = counts_steps ? static_cast<double>(ranks_) / steps() : 0.5;
    double bandwidth = bus_bandwidth(algorithm, protocol) * ratio;
    const int log_size = floor_log2(static_cast<std::uint64_t>(size.count) >> 6U);
    const bool corrected = (algorithm == Algorithm::tree && log_size < 23) ||
                           (algorithm == Algorithm::nvls_tree && log_size < 24 &&
                            library_.generation >= GpuGeneration::blackwell);
    if (corrected && log_size >= 0)
        bandwidth *= nccl_table::tree_correction[at(protocol)][static_cast<std::size_t>(log_size)];
    double latency = this->latency(algorithm, protocol);
    if (algorithm == Algorithm::ring && protocol == NcclProtocol::simple && machines_ > 1 &&
        operation_ == Operation::all_reduce &&
        size.count / (std::int64_t{channels_} * ranks_) >= 64)
        latency *= library_.generation == GpuGeneration::volta ? 1.9 : 1.4;
    return latency + bytes / (1000 * bandwidth);
}

double NcclTuning::hop(Algorithm algorithm, NcclProtocol protocol, bool between) const {
    const Hop kind = between ? Hop::network : inside();
    const double own = hop_latency_of(kind, algorithm, protocol);
    // What a switch takes for its sums is no step of the data path.
    if (algorithm >= Algorithm::nvls) return own;
    const double others = algorithm == Algorithm::collnet_direct && !between
                              ? nccl_table::each_of_direct * (library_.devices - 1)
                              : 0;
    const double simple =
        nccl_table::hop_latency[at(kind)][at(Algorithm::ring)][at(NcclProtocol::simple)];
    return own * std::max(1.0, nccl_table::step_of_simple / simple) + others;
}

double NcclTuning::line(bool between) const {
    return gigabytes_per_second(between ? library_.between : library_.inside);
}

double NcclTuning::most_of_head(Algorithm algorithm) const {
    const double lane = line(false) * efficiency_of_switches() / (heads() + 1);
    if (algorithm == Algorithm::nvls) return lane;
    if (algorithm == Algorithm::nvls_tree)
        return std::min(lane, nccl_table::most_per_channel_of_nvls_tree[generation()][scale()] *
                                  ranks_ / steps());
    if (algorithm == Algorithm::collnet_chain) return card();
    const double devices_per_head = static_cast<double>(library_.devices) / heads();
    return card() / ((devices_per_head + 1) / 2) *
           (library_.generation >= GpuGeneration::hopper ? nccl_table::efficiency_of_direct : 1);
}

double NcclTuning::most_by_ll() const {
    return nccl_table::most_rate_of_ll[machines_ == 1 ? generation() : 0][scale()];
}

double NcclTuning::efficiency_of_switches() const {
    return nccl_table::efficiency_of_switch_sums[generation()];
}

int NcclTuning::heads() const {
    return std::min(machines_ == 1 ? ranks_ : std::min(library_.cards, library_.devices),
                    most_heads);
}

std::size_t NcclTuning::scale() const {
    return static_cast<std::size_t>(std::min(machines_, 3) - 1);
}

Hop NcclTuning::inside() const {
    return library_.over_nvlink ? Hop::nvlink : Hop::pcie;
}

int NcclTuning::steps() const {
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
double NcclTuning::hop_latency_of(Hop kind, Algorithm algorithm, NcclProtocol protocol) const {
    const bool exposed = kind == Hop::network && machines_ == ranks_;
    return nccl_table::hop_latency[at(kind)][at(exposed ? Algorithm::tree : algorithm)]
                                  [at(protocol)];
}

double NcclTuning::latency(Algorithm algorithm, NcclProtocol protocol) const {
    if (algorithm > Algorithm::tree) return latency_over_switches(algorithm);
    const double base = nccl_table::base_latency[at(algorithm)][at(protocol)];
    double inside = hop_latency_of(this->inside(), algorithm, protocol);
    const double between = hop_latency_of(Hop::network, algorithm, protocol);
    if (algorithm == Algorithm::tree)
        return base + 2 * ((per_machine() - 1) * inside +
                           floor_log2(static_cast<std::uint64_t>(machines_)) * between);
    if (operation_ == Operation::broadcast || operation_ == Operation::reduce)
        return base + (machines_ == 1 ? inside : between);
    if (machines_ > 1)
        inside = std::max(
            inside, nccl_table::network_overhead * (protocol == NcclProtocol::simple ? 3 : 1));
    const int halves = operation_ == Operation::all_reduce ? 2 : 1;
    const int steps_between = machines_ == 1 ? 0 : halves * (machines_ - 1);
    return base + (steps() - steps_between) * inside + steps_between * between;
}

double NcclTuning::latency_over_switches(Algorithm algorithm) const {
    const double inside = hop_latency_of(this->inside(), algorithm, NcclProtocol::simple);
    const double between = hop_latency_of(Hop::network, algorithm, NcclProtocol::simple);
    const int others = per_machine() - 1;
    if (algorithm == Algorithm::nvls) return inside + (machines_ > 1 ? between : 0);
    if (algorithm == Algorithm::nvls_tree)
        return inside + 2 * floor_log2(static_cast<std::uint64_t>(machines_)) * between;
    if (algorithm == Algorithm::collnet_chain) return 2 * others * inside + between;
    return 2 * (std::min(1, others) * inside + others * nccl_table::each_of_direct) + between;
}

// Returns the fastest rate that the search tries and the wires bear.
double NcclTuning::searched(double most) const {
    const std::span<const double> rates = nccl_table::searched(library_.generation, machines_ == 1);
    const auto found = std::ranges::find_if(rates, [most](double rate) { return rate <= most; });
    return found == rates.end() ? most : *found;
}

// Returns a rate inside a machine that the search has raised beyond that of the card: one by one
// while it is less than twice as fast.
double NcclTuning::raised(double rate, double most) const {
    const std::span<const double> rates = nccl_table::searched(library_.generation, machines_ == 1);
    const double beside_card = 2 * rate;
    for (std::size_t i = rates.size(); i-- > 0;)
        if (rates[i] > rate && rates[i] <= most && rate < beside_card) rate = rates[i];
    return rate;
}

}  // namespace paceline
