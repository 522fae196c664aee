#include "sim/collectives/plans/nccl.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "analysis/forms/message_counts.hpp"
#include "analysis/forms/step_models.hpp"
#include "sim/collectives/plans/all_reduce_plan.hpp"
#include "sim/collectives/plans/nccl_collectives.hpp"
#include "tests/sim/collectives/star_run.hpp"
#include "topologies/fabrics/machines.hpp"

namespace paceline::nccl_test {
namespace {

using namespace literals;
using doctest::Approx;
using Algorithm = Nccl::Algorithm;
using NcclProtocol = Nccl::Protocol;
using Operation = Nccl::Operation;

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = 1024 * kibibyte;

Bandwidth gigabytes(double per_second) {
    return Bandwidth{static_cast<std::int64_t>(per_second * 8e9)};
}

Nccl machines_of(int devices, double inside, double between, GpuGeneration generation) {
    Nccl library;
    library.devices = devices;
    library.inside = gigabytes(inside);
    library.between = gigabytes(between);
    library.generation = generation;
    return library;
}

Nccl eight_a100() {
    return machines_of(8, 240, 25, GpuGeneration::ampere);
}

NcclChoice all_reduce_of(const Nccl& library, std::int64_t bytes, int n) {
    return nccl_choice(library, Operation::all_reduce, {bytes}, n);
}

// NVIDIA/nccl issue 1453 logs "4096 Bytes -> Algo 0 proto 0 time 25.874907" and 26.549810 for 8192
// bytes: tree and LL, on 3 machines of 8 H100 with 8 cards of 400 Gbps.
TEST_CASE("NCCL's choice: estimates are those that the library has logged") {
    Nccl library = machines_of(8, 370, 400, GpuGeneration::hopper);
    library.cards = 8;
    const auto estimate_us = [&](std::int64_t bytes) {
        const NcclChoice choice = all_reduce_of(library, bytes, 24);
        CHECK(choice.algorithm == Algorithm::tree);
        CHECK(choice.protocol == NcclProtocol::ll);
        return 1e6 * to_seconds(choice.estimate);
    };
    CHECK(estimate_us(4096) == Approx(25.874907).epsilon(1e-6));
    CHECK(estimate_us(8192) == Approx(26.549810).epsilon(1e-6));
}

// By hand, from the library's table for a ring of 8 at 240 GB/s:
//   LL      6.6 + 14 * 0.6 =  15.0 us + S / (87.7 * 8/14 GB/s)
//   LL128  14.0 + 14 * 1.9 =  40.6 us + S / (0.92 * 240 * 8/14 GB/s)
//   Simple  8.4 + 14 * 3.4 =  56.0 us + S / (240 * 8/14 GB/s)
TEST_CASE("NCCL's choice: on eight A100 a ring changes its protocol where the lines cross") {
    const auto protocol_of = [](double bytes) {
        const NcclChoice choice = all_reduce_of(eight_a100(), std::int64_t(bytes), 8);
        CHECK(choice.algorithm == Algorithm::ring);
        return choice.protocol;
    };
    CHECK(protocol_of(8) == NcclProtocol::ll);
    CHECK(protocol_of(2.10e6) == NcclProtocol::ll);
    CHECK(protocol_of(2.16e6) == NcclProtocol::ll128);
    CHECK(protocol_of(24.0e6) == NcclProtocol::ll128);
    CHECK(protocol_of(24.6e6) == NcclProtocol::simple);
    CHECK(1e6 * to_seconds(all_reduce_of(eight_a100(), 8, 8).estimate) ==
          Approx(15.0).epsilon(1e-4));
}

// NVIDIA/nccl issue 2409 finds 13.1 GB/s with steps of 128 KiB and 87.6 GB/s with 1 MiB.
TEST_CASE("NCCL's messages: one cost of a step explains two sizes of a slice") {
    Nccl library = eight_a100();
    library.protocol = NcclProtocol::simple;
    const MessageCost cost = all_reduce_of(library, 1024 * mebibyte, 8).cost;
    CHECK(128 * kibibyte / to_seconds(cost.occupies.inside) == Approx(13.1e9).epsilon(0.1));
    CHECK(mebibyte / to_seconds(cost.occupies.inside) == Approx(87.6e9).epsilon(0.1));
    CHECK(to_seconds(cost.occupies.between) == Approx(14e-6).epsilon(1e-3));
}

TEST_CASE(
    "NCCL's messages: hops of other protocols cost in proportion, and hold the bus's latency") {
    const auto inside_us = [](const Nccl& library, NcclProtocol protocol) {
        Nccl forced = library;
        forced.protocol = protocol;
        forced.algorithm = Algorithm::ring;
        return 1e6 * to_seconds(all_reduce_of(forced, 8, 8).cost.delays.inside);
    };
    Nccl library = eight_a100();
    CHECK(inside_us(library, NcclProtocol::ll) == Approx(0.6 * 11 / 3.4).epsilon(1e-3));
    CHECK(inside_us(library, NcclProtocol::ll128) == Approx(1.9 * 11 / 3.4).epsilon(1e-3));
    library.inside_latency = Duration{1'500'000};
    CHECK(inside_us(library, NcclProtocol::ll) == Approx(0.6 * 11 / 3.4 - 1.5).epsilon(1e-2));
    library.inside_latency = Duration{15'000'000};
    CHECK(inside_us(library, NcclProtocol::ll) == 0);
    library.inside_latency = {};
    library.over_nvlink = false;
    CHECK(inside_us(library, NcclProtocol::ll) == Approx(1.0 * 11 / 5.7).epsilon(1e-3));
}

TEST_CASE("NCCL's choice: what is forced is taken where there is such a thing") {
    Nccl library = eight_a100();
    library.algorithm = Algorithm::tree;
    library.protocol = NcclProtocol::simple;
    for (const std::int64_t bytes : {std::int64_t{8}, 64 * kibibyte, 64 * mebibyte}) {
        const NcclChoice choice = all_reduce_of(library, bytes, 8);
        CHECK(choice.algorithm == Algorithm::tree);
        CHECK(choice.protocol == NcclProtocol::simple);
        CHECK(nccl_choice(library, Operation::all_gather, {bytes}, 8).algorithm == Algorithm::ring);
    }
    library.over_nvlink = false;
    library.protocol = NcclProtocol::ll128;
    CHECK(all_reduce_of(library, 8, 8).protocol != NcclProtocol::ll128);
}

// Bus bandwidths of NVIDIA/nccl issue 1455: 4 to 8 H100, NCCL_ALGO=NVLS, 2 to 4 GiB.
TEST_CASE("NCCL's choice: sums in a switch gain for all-reduces what was measured") {
    Nccl library = machines_of(8, 370, 50, GpuGeneration::hopper);
    library.has_switch_sums = true;
    library.algorithm = Algorithm::nvls;
    const std::vector<std::pair<int, double>> measured{
        {4, 370}, {5, 420}, {6, 440}, {7, 460}, {8, 480}};
    for (const auto& [n, bus] : measured) {
        CAPTURE(n);
        const NcclChoice choice = all_reduce_of(library, 4096 * mebibyte, n);
        CHECK(choice.algorithm == Algorithm::nvls);
        const double seconds = static_cast<double>(choice.on_wire.count) / 370e9 +
                               to_seconds(choice.cost.occupies.inside);
        CHECK(4096.0 * mebibyte / seconds * 2 * (n - 1) / n == Approx(bus * 1e9).epsilon(0.03));
    }
    for (const Operation other : {Operation::all_gather, Operation::reduce_scatter})
        CHECK(nccl_choice(library, other, {4096 * mebibyte}, 8).algorithm == Algorithm::ring);
    library.algorithm.reset();
    CHECK(all_reduce_of(library, 4096 * mebibyte, 8).algorithm == Algorithm::nvls);
    library.has_switch_sums = false;
    CHECK(all_reduce_of(library, 4096 * mebibyte, 8).algorithm == Algorithm::ring);
}

double estimate_us(const Nccl& library, Algorithm algorithm, std::int64_t bytes, int n) {
    Nccl forced = library;
    forced.algorithm = algorithm;
    const NcclChoice choice = all_reduce_of(forced, bytes, n);
    CHECK(choice.algorithm == algorithm);
    CHECK(choice.protocol == NcclProtocol::simple);
    return 1e6 * to_seconds(choice.estimate);
}

Nccl h100s_with_a_card_each() {
    Nccl library = machines_of(8, 370, 400, GpuGeneration::hopper);
    library.cards = 8;
    library.has_switch_sums = true;
    return library;
}

// By hand. On a lane of 370 GB/s nine rates of 40 GB/s fit, the fastest of 60, 50, 40, 30, ... that
// the search tries; sums leave 0.85 of it, seven of eight channels count, and both halves at once:
//   8 * 40 * 0.85 * 2 * 7/8 = 476 GB/s of the bus,  8/14 of that for the vector, behind 25 us
TEST_CASE("NCCL's choice: sums in a machine's switch are estimated as by hand") {
    const Nccl library = h100s_with_a_card_each();
    for (const double bytes : {1e6, 64e6, 1e9})
        CHECK(estimate_us(library, Algorithm::nvls, std::int64_t(bytes), 8) ==
              Approx(25 + bytes / (476e3 * 8 / 14)).epsilon(1e-6));
}

// By hand, with cards of 50 GB/s, of which the search takes 48. A channel of NVLSTree has the least
// of 40 * 0.85 * 2 * 7/8 = 59.5 GB/s inside; between machines 2 * 48 on two and 48 on more; and the
// table's 57.7 on two and 45.5 on more. There are eight. A hop between machines takes 20.9 us.
TEST_CASE("NCCL's choice: trees of machines' switches are estimated as by hand") {
    const Nccl library = h100s_with_a_card_each();
    for (const double bytes : {1e6, 64e6, 1e9}) {
        const auto whole = std::int64_t(bytes);
        CHECK(estimate_us(library, Algorithm::nvls_tree, whole, 16) ==
              Approx(25 + 2 * 20.9 + bytes / (8 * 57.7e3 * 16 / 30)).epsilon(1e-6));
        CHECK(estimate_us(library, Algorithm::nvls_tree, whole, 24) ==
              Approx(25 + 2 * 20.9 + bytes / (8 * 45.5e3 * 24 / 46)).epsilon(1e-6));
        CHECK(estimate_us(library, Algorithm::nvls_tree, whole, 40) ==
              Approx(25 + 4 * 20.9 + bytes / (8 * 45.5e3 * 40 / 78)).epsilon(1e-6));
    }
    // Blackwell: 0.74 of 2 * 7/8 * 86, at most 80 on three machines, by a table of sizes (0.5 at
    // 1 MiB, 0.8 at 64 MiB).
    Nccl newer = machines_of(8, 800, 800, GpuGeneration::blackwell);
    newer.cards = 8;
    newer.has_switch_sums = true;
    CHECK(estimate_us(newer, Algorithm::nvls_tree, mebibyte, 24) ==
          Approx(25 + 2 * 20.9 + 1048576 / (0.5 * 8 * 80e3 * 24 / 46)).epsilon(1e-6));
    CHECK(estimate_us(newer, Algorithm::nvls_tree, 64 * mebibyte, 24) ==
          Approx(25 + 2 * 20.9 + 67108864 / (0.8 * 8 * 80e3 * 24 / 46)).epsilon(1e-6));
}

// By hand: 4 machines of 8 A100, cards of 25 GB/s, of which the search takes 24 and raises the rate
// inside to 28, 30, and 48, twice as much; half of 8 * 48 GB/s is for the vector.
//   direct   2 * (3.7 + 7 * 0.4) + 31 = 44 us        chain   2 * 7 * 2.8 + 30 = 69.2 us
// The chain's channels have 240/8 = 30 GB/s of a lane each.
TEST_CASE("NCCL's choice: sums in the network's switches are estimated as by hand") {
    Nccl library = machines_of(8, 240, 200, GpuGeneration::ampere);
    library.cards = 8;
    library.has_collnet = true;
    for (const double bytes : {1e6, 64e6, 1e9}) {
        const auto whole = std::int64_t(bytes);
        CHECK(estimate_us(library, Algorithm::collnet_direct, whole, 32) ==
              Approx(44 + bytes / 192e3).epsilon(1e-6));
        CHECK(estimate_us(library, Algorithm::collnet_chain, whole, 32) ==
              Approx(69.2 + bytes / 120e3).epsilon(1e-6));
    }
    // One device per machine: a hop between machines is that of a tree.
    const Nccl alone = among_machines(library);
    CHECK(estimate_us(alone, Algorithm::collnet_chain, 1'000'000, 4) ==
          Approx(14 + 1e6 / 24e3).epsilon(1e-6));
    // Hopper: 8 * 48 * 0.85 directly; and both kinds of switches, 8 * min(59.5, 48).
    Nccl newer = h100s_with_a_card_each();
    newer.has_collnet = true;
    CHECK(estimate_us(newer, Algorithm::collnet_direct, 64'000'000, 32) ==
          Approx(44 + 64e6 / (8 * 48e3 * 0.85 / 2)).epsilon(1e-6));
    CHECK(estimate_us(newer, Algorithm::nvls, 64'000'000, 32) ==
          Approx(25 + 18 + 64e6 / (8 * 48e3 * 32 / 62)).epsilon(1e-6));
}

TEST_CASE("NCCL's choice: algorithms of switches are considered where the library considers them") {
    Nccl library = h100s_with_a_card_each();
    const auto chosen = [&](int n) { return all_reduce_of(library, 256 * mebibyte, n).algorithm; };
    CHECK(chosen(8) == Algorithm::nvls);
    CHECK(chosen(24) == Algorithm::nvls_tree);
    CHECK(chosen(20) < Algorithm::collnet_direct);  // the last machine is not full
    library.cards = 1;                              // one head would have one channel
    CHECK(chosen(24) < Algorithm::collnet_direct);
    CHECK(chosen(8) == Algorithm::nvls);
    library.cards = 8;
    library.has_collnet = true;
    CHECK(chosen(24) == Algorithm::nvls);
    CHECK(chosen(8) == Algorithm::nvls);
    library = machines_of(8, 240, 200, GpuGeneration::ampere);
    library.cards = 8;
    library.has_collnet = true;
    CHECK(chosen(24) == Algorithm::collnet_direct);
    library.over_switch = false;
    CHECK(chosen(24) == Algorithm::collnet_chain);
    CHECK(chosen(8) < Algorithm::collnet_direct);
    library.devices = library.cards = 16;
    CHECK(chosen(48) < Algorithm::collnet_direct);
    library = h100s_with_a_card_each();
    library.has_collnet = true;
    for (const Operation other : {Operation::all_gather, Operation::reduce_scatter,
                                  Operation::broadcast, Operation::reduce})
        CHECK(nccl_choice(library, other, {256 * mebibyte}, 24).algorithm == Algorithm::ring);
}

TEST_CASE("NCCL's choice: sums in switches go in slices by the size of the vector") {
    const auto slice_of = [](int n, std::int64_t bytes) {
        Nccl library = h100s_with_a_card_each();
        library.algorithm = Algorithm::nvls_tree;
        const NcclChoice choice = all_reduce_of(library, bytes, n);
        CHECK(choice.channels == 16);
        CHECK(choice.heads == 8);
        return choice.slices.slice.count / (kibibyte * choice.channels / 2);  // KiB of a channel
    };
    // 16 channels of 8 heads: 128 at a time.
    CHECK(slice_of(16, 1024 * mebibyte) == 128);
    CHECK(slice_of(16, 512 * 128 * kibibyte) == 128);
    CHECK(slice_of(16, 512 * 128 * kibibyte - 1) == 64);
    CHECK(slice_of(16, 128 * 64 * kibibyte - 1) == 32);
    CHECK(slice_of(32, 1024 * mebibyte) == 64);
}

TEST_CASE("NCCL's choice: more bytes are never estimated to take less, whatever is chosen") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 rng(seed);
        const int devices = 1 << (rng() % 4);
        Nccl library = machines_of(devices, 20.0 + rng() % 800, 1.0 + rng() % 400,
                                   static_cast<GpuGeneration>(rng() % 4));
        library.cards = devices;
        library.over_nvlink = rng() % 2 == 0;
        const int n = devices * (1 + static_cast<int>(rng() % 16));
        if (n == 1) continue;
        for (const Operation operation :
             {Operation::all_gather, Operation::reduce_scatter, Operation::broadcast}) {
            Duration before{};
            for (std::int64_t bytes = 8; bytes <= 1024 * mebibyte; bytes *= 2) {
                const NcclChoice choice = nccl_choice(library, operation, {bytes}, n);
                CHECK(choice.estimate >= before);
                before = choice.estimate;
            }
        }
    }
}

struct Machines {
    Nccl library;
    int n;
    Link lane;
    Link link;

    [[nodiscard]] Fabric fabric() const {
        const int machines = (n + library.devices - 1) / library.devices;
        const int nodes = machines * library.cards;
        Fabric between = make_star(nodes, link, link);
        if (library.devices == 1) return between;
        return make_machines(n, library.devices, {BusKind::switched, lane, library.cards},
                             std::move(between));
    }
    [[nodiscard]] AllReducePlan plan() const {
        AllReducePlan plan = AllReduce::nccl;
        plan.library = library;
        return plan;
    }
    [[nodiscard]] Duration time(Bytes size, std::uint64_t* messages = nullptr) const {
        StarRun run(n, fabric());
        run.spawn_all([&](const Rank& self) { return all_reduce(plan(), self, size); });
        run.simulation.run();
        if (messages != nullptr) *messages = run.network.messages_delivered();
        return run.last_end();
    }
};

Machines machines_by(unsigned seed) {
    std::mt19937 rng(seed);
    const int devices = 1 << (rng() % 3);
    Machines at{machines_of(devices, 50.0 + rng() % 400, 5.0 + rng() % 50,
                            static_cast<GpuGeneration>(rng() % 4)),
                devices * (1 + static_cast<int>(rng() % 5)),
                {},
                {}};
    if (at.n == 1) at.n = 2;
    at.library.cards = devices > 1 && rng() % 2 == 0 ? devices / 2 : 1;
    at.library.has_switch_sums = rng() % 2 == 0;
    at.lane = {at.library.inside, Duration{static_cast<std::int64_t>(rng() % 900'000)}};
    at.link = {Bandwidth{at.library.between.bits_per_second / at.library.cards},
               Duration{static_cast<std::int64_t>(rng() % 5'000'000)}};
    at.library.inside_latency = 2 * at.lane.latency;
    at.library.has_collnet = rng() % 3 == 0;
    return at;
}

TEST_CASE("NCCL's all-reduce: inside one machine, and with one device each, it takes its form") {
    int formed = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const Machines at = machines_by(seed);
        IdleNetwork network{{at.link.bandwidth, 2 * at.link.latency}, {}, at.library.devices};
        if (at.library.devices > 1) network.bus = IdleStar{at.lane.bandwidth, 2 * at.lane.latency};
        network.cards = at.library.cards;
        const Bytes size{std::int64_t{at.n} << (seed % 18)};
        const auto form = all_reduce_time(at.plan(), at.n, size, network);
        if (!form) continue;
        ++formed;
        // Slices that do not divide their chunk are rounded up in the form.
        CHECK(to_seconds(at.time(size)) == Approx(to_seconds(*form)).epsilon(1e-4));
    }
    CHECK(formed > 60);
}

TEST_CASE("NCCL's all-reduce: it has as many messages as its form counts") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const Machines at = machines_by(seed);
        const Bytes size{std::int64_t{16} * at.n * at.library.cards << (seed % 20)};
        std::uint64_t messages = 0;
        static_cast<void>(at.time(size, &messages));
        CHECK(std::cmp_equal(messages, all_reduce_messages(at.plan(), at.n, size)));
    }
}

TEST_CASE("NCCL's all-reduce: over switches a long vector takes what the library estimates") {
    for (const int machines : {2, 3, 6}) {
        Machines at{h100s_with_a_card_each(), 8 * machines, {}, {}};
        at.lane = {at.library.inside, Duration{150'000}};
        at.link = {gigabytes(50), Duration{500'000}};
        at.library.inside_latency = 2 * at.lane.latency;
        const NcclChoice choice = all_reduce_of(at.library, 512 * mebibyte, at.n);
        CHECK(choice.algorithm == Algorithm::nvls_tree);
        CHECK(to_seconds(at.time({512 * mebibyte})) ==
              Approx(to_seconds(choice.estimate)).epsilon(0.08));
    }
}

TEST_CASE("NCCL's all-reduce: a vector four times as long takes no less, but on plateaus") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        Machines at = machines_by(seed);
        // The library estimates LL too short, so it changes to CollNet where that takes much less.
        at.library.has_collnet = false;
        Duration before{};
        for (std::int64_t bytes = 1024; bytes <= 64 * mebibyte; bytes *= 4) {
            const Duration now = at.time({bytes});
            // As many times as channels are added, a message takes as long, up to 5 %.
            CHECK(to_seconds(now) >= 0.95 * to_seconds(before));
            before = now;
        }
    }
}

// Two channels for each NVLink of 25 GB/s and for each card; deviceQuery prints 80, 108 and 132
// multiprocessors.
TEST_CASE("NCCL's kernels hold a multiprocessor of the device for each channel") {
    const Nccl dgx1 = machines_of(8, 150, 12.5, GpuGeneration::volta);
    CHECK(nccl_share_of_device(dgx1, 8) == Approx(12.0 / 80));
    CHECK(nccl_share_of_device(machines_of(8, 300, 25, GpuGeneration::ampere), 8) ==
          Approx(24.0 / 108));
    Nccl eight_cards = machines_of(8, 450, 400, GpuGeneration::hopper);
    eight_cards.cards = 8;
    CHECK(nccl_share_of_device(eight_cards, 64) == Approx(16.0 / 132));
    Nccl pcie = machines_of(4, 12, 1.25, GpuGeneration::volta);
    pcie.over_nvlink = false;
    CHECK(nccl_share_of_device(pcie, 4) == Approx(2.0 / 80));
    CHECK(nccl_share_of_device(dgx1, 1) == 0);
}

}  // namespace
}  // namespace paceline::nccl_test
