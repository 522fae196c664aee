#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "sim/collectives/plans/nccl.hpp"
#include "sim/collectives/plans/nccl_slices.hpp"
#include "sim/collectives/plans/nccl_table.hpp"
#include "sim/collectives/plans/nccl_tuning.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

using Algorithm = Nccl::Algorithm;
using NcclProtocol = Nccl::Protocol;
using Operation = Nccl::Operation;
using nccl_table::at;

// In the order of the library, which takes the first of equals.
constexpr std::array all_algorithms{Algorithm::tree,           Algorithm::ring,
                                    Algorithm::collnet_direct, Algorithm::collnet_chain,
                                    Algorithm::nvls,           Algorithm::nvls_tree};
constexpr std::array all_protocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};

Duration microseconds(double us) {
    return Duration{std::llround(us * 1e6)};
}

bool sums_in_switches(Algorithm algorithm) {
    return algorithm > Algorithm::tree;
}

Bytes on_wire(const NcclTuning& tuning, const NcclChoice& choice, Bytes size) {
    const std::int64_t n = tuning.ranks();
    if (choice.algorithm == Algorithm::nvls && tuning.machines() == 1)
        return {size.count + (size.count + n - 1) / n};
    if (choice.protocol == NcclProtocol::ll) return {2 * size.count};
    if (choice.protocol == NcclProtocol::simple) return size;
    return {size.count + (size.count + 14) / 15};
}

// What the bound on the rate adds to the wire's time, in us per byte of payload.
double beyond_wire(const NcclTuning& tuning, const NcclChoice& choice, Bytes size, bool between) {
    const double line = tuning.line(between);
    const double wire =
        static_cast<double>(choice.on_wire.count) / static_cast<double>(size.count) / (1000 * line);
    if (choice.algorithm == Algorithm::nvls) return wire / tuning.efficiency_of_switches() - wire;
    double rate = line;
    if (choice.protocol == NcclProtocol::ll) rate = std::min(tuning.most_by_ll(), line / 2);
    if (choice.protocol == NcclProtocol::ll128) rate = 0.92 * line;
    rate *= static_cast<double>(choice.channels) / tuning.channels();
    return std::max(0.0, 1 / (1000 * rate) - wire);
}

// The payload of one message.
double message_of(const NcclTuning& tuning, Operation operation, const NcclChoice& choice,
                  Bytes size) {
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

// Of rings, trees, and sums in the switch of one machine.
void add_costs(const NcclTuning& tuning, Operation operation, Bytes size, NcclChoice& choice) {
    const double message = message_of(tuning, operation, choice, size);
    const auto cost_of = [&](bool between) {
        if (tuning.line(between) == 0) return Duration{};
        return microseconds(tuning.hop(choice.algorithm, choice.protocol, between) +
                            message * beyond_wire(tuning, choice, size, between));
    };
    const bool is_simple = choice.protocol == NcclProtocol::simple;
    (is_simple ? choice.cost.occupies : choice.cost.delays) = {
        std::max(Duration{}, cost_of(false) - tuning.library().inside_latency), cost_of(true)};
}

// Of sums in switches over several machines. All eight steps of a buffer are under way, so that a
// hop only delays. NVLS counts one for sums and copies together.
void add_costs_in_switches(const NcclTuning& tuning, NcclChoice& choice) {
    choice.cost.delays.between =
        microseconds(tuning.hop(choice.algorithm, NcclProtocol::simple, true));
    choice.of_head = Bandwidth{std::llround(8e9 * tuning.most_of_head(choice.algorithm))};
    if (tuning.per_machine() == 1) return;
    const double hop = tuning.hop(choice.algorithm, NcclProtocol::simple, false);
    choice.cost.delays.inside =
        std::max(Duration{}, microseconds(choice.algorithm >= Algorithm::nvls ? hop / 2 : hop) -
                                 tuning.library().inside_latency);
}

}  // namespace

Nccl among_machines(Nccl library) {
    library.between.bits_per_second /= library.cards;
    library.devices = library.cards = 1;
    return library;
}

std::string_view name_of(Algorithm algorithm) {
    constexpr std::array<std::string_view, 6> names{"ring",         "tree", "CollNetDirect",
                                                    "CollNetChain", "NVLS", "NVLSTree"};
    return names[at(algorithm)];
}

std::string_view name_of(NcclProtocol protocol) {
    constexpr std::array<std::string_view, 3> names{"LL", "LL128", "Simple"};
    return names[at(protocol)];
}

namespace {

bool is_forced_out(const NcclTuning& tuning, Algorithm algorithm, NcclProtocol protocol) {
    const Nccl& library = tuning.library();
    const auto has_any = [&](Algorithm a) {
        return std::ranges::any_of(all_protocols, [&](NcclProtocol p) { return tuning.has(a, p); });
    };
    if (library.algorithm && has_any(*library.algorithm) && algorithm != *library.algorithm)
        return true;
    return library.protocol && tuning.has(algorithm, *library.protocol) &&
           protocol != *library.protocol;
}

// Sets what the library estimates to take the least time.
void choose(const NcclTuning& tuning, Bytes size, NcclChoice& choice) {
    double least = std::numeric_limits<double>::max();
    for (const Algorithm algorithm : all_algorithms)
        for (const NcclProtocol protocol : all_protocols) {
            if (!tuning.has(algorithm, protocol) || is_forced_out(tuning, algorithm, protocol))
                continue;
            const double estimate = tuning.estimate(algorithm, protocol, size);
            if (estimate >= least) continue;
            least = estimate;
            choice.algorithm = algorithm;
            choice.protocol = protocol;
        }
    choice.estimate = microseconds(least);
}

}  // namespace

NcclChoice nccl_choice(const Nccl& library, Operation operation, Bytes size, int n) {
    PACELINE_CHECK(n > 1, "a collective has two members or more");
    const NcclTuning tuning(library, operation, n);
    NcclChoice choice;
    choice.on_wire = size;
    if (size == Bytes{0}) return choice;
    choose(tuning, size, choice);
    const Algorithm algorithm = choice.algorithm;
    choice.channels = nccl_channels(tuning, algorithm, choice.protocol, size);
    choice.on_wire = on_wire(tuning, choice, size);
    // Simple moves two of the eight steps of a ring's buffer at a time.
    const bool by_two = algorithm == Algorithm::ring && choice.protocol == NcclProtocol::simple;
    choice.slices.slots = by_two ? 4 : 8;
    std::int64_t slice = choice.channels * nccl_slice_of_channel(tuning, algorithm, choice.protocol,
                                                                 choice.channels, size);
    if (algorithm == Algorithm::tree || algorithm == Algorithm::nvls_tree) slice /= 2;
    if (sums_in_switches(algorithm) && tuning.machines() > 1) {
        choice.heads = tuning.heads();
        if (algorithm == Algorithm::collnet_chain) slice /= choice.heads;
        choice.slices.slice = {std::max<std::int64_t>(slice, 1)};
        add_costs_in_switches(tuning, choice);
        return choice;
    }
    if (algorithm == Algorithm::nvls) slice = choice.on_wire.count;
    choice.slices.slice = {std::max<std::int64_t>(slice, 1)};
    add_costs(tuning, operation, size, choice);
    const bool is_rooted = operation == Operation::broadcast || operation == Operation::reduce;
    if (tuning.machines() > 1 && !is_rooted && n % library.devices == 0)
        choice.rings = std::min(library.cards, library.devices);
    choice.slices.slice = {std::max<std::int64_t>(choice.slices.slice.count / choice.rings, 1)};
    const double base = nccl_table::base_latency[at(algorithm)][at(choice.protocol)];
    choice.start_up = std::max(Duration{}, microseconds(base) - least_nccl_start_up);
    return choice;
}

double nccl_share_of_device(const Nccl& library, int n) {
    constexpr std::array<int, 4> multiprocessors{80, 108, 132, 148};  // by generation
    if (n < 2) return 0;
    constexpr Bytes large{std::int64_t{1} << 30};
    const NcclChoice choice = nccl_choice(library, Operation::all_reduce, large, n);
    return static_cast<double>(choice.channels) /
           multiprocessors[static_cast<std::size_t>(library.generation)];
}

}  // namespace paceline
