#include "sim/collectives/plans/nccl_slices.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace paceline {

namespace {

using Algorithm = Nccl::Algorithm;
using NcclProtocol = Nccl::Protocol;

constexpr std::int64_t kibibyte = 1024;

int floor_log2(int x) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(x))) - 1;
}

// What NVLS and NVLSTree begin with.
struct OfNvls {
    int channels = 16;
    std::int64_t slice = 128 * kibibyte;
    std::int64_t most_of_tree = 0;  // 0: by the number of machines
};

OfNvls of_nvls_over_blackwells(const NcclTuning& tuning) {
    const int devices = tuning.per_machine();
    const double card = tuning.line(true) / tuning.library().cards;
    constexpr double hundreds_of_gbps = 48;  // GB/s: 400 Gbps, and twice that
    OfNvls own{.channels = 32};
    if (tuning.machines() == 2 && card >= hundreds_of_gbps) {
        own.most_of_tree = 128 * kibibyte;
        if (devices <= 4)
            own.slice = own.most_of_tree = 256 * kibibyte;
        else if (devices >= 16 || (devices <= 8 && card < 2 * hundreds_of_gbps))
            own.most_of_tree = 64 * kibibyte;
    } else if (card >= 2 * hundreds_of_gbps && devices <= 8) {
        own = {24, 256 * kibibyte, 256 * kibibyte};
    } else if (card >= 2 * hundreds_of_gbps) {
        own.most_of_tree = (devices < 32 ? 128 : 64) * kibibyte;
    } else if (card >= hundreds_of_gbps) {
        own.channels = 24;
        own.most_of_tree = 64 * kibibyte;
    }
    return own;
}

OfNvls of_nvls(const NcclTuning& tuning) {
    OfNvls own;
    if (tuning.library().generation >= GpuGeneration::blackwell)
        own = tuning.machines() == 1 ? OfNvls{.channels = 24} : of_nvls_over_blackwells(tuning);
    constexpr int many_machines = 4;
    if (own.most_of_tree == 0)
        own.most_of_tree = tuning.machines() >= many_machines ? 64 * kibibyte : own.slice;
    return own;
}

// Slices are cut to `to` while a vector has fewer than `fewest` of them for each head and channel.
struct Cut {
    std::int64_t fewest;
    std::int64_t to;
};

std::int64_t cut_at_once(std::int64_t slice, std::int64_t size, std::int64_t at_a_time,
                         std::initializer_list<Cut> cuts) {
    for (const Cut& cut : cuts)
        if (size < cut.fewest * at_a_time * slice && slice > cut.to) slice = cut.to;
    return slice;
}

std::int64_t halved(std::int64_t slice, std::int64_t size, std::int64_t at_a_time,
                    std::initializer_list<Cut> cuts) {
    for (const Cut& cut : cuts)
        while (size / (at_a_time * slice) < cut.fewest && slice > cut.to) slice /= 2;
    return slice;
}

std::int64_t slice_of_tree_by_ll128(const NcclTuning& tuning, int channels, Bytes size) {
    std::int64_t slice = 576 * kibibyte;
    const double per_machine = static_cast<double>(tuning.ranks()) / tuning.machines();
    const double steps = 1 + floor_log2(tuning.machines()) + 0.1 * per_machine;
    const auto slices = [&] {
        const std::int64_t whole = size.count / (channels * slice);
        return static_cast<double>(whole);
    };
    while (slices() < steps * 64 / per_machine && slice > 128 * kibibyte) slice /= 2;
    while (slices() < steps * 16 / per_machine && slice > 32 * kibibyte) slice /= 2;
    return slice;
}

std::int64_t slice_of_nvls(const NcclTuning& tuning, std::int64_t at_a_time, Bytes size) {
    constexpr double slow = 150;  // GB/s of the vector
    const double rate = tuning.bus_bandwidth(Algorithm::nvls, NcclProtocol::simple) *
                        tuning.ranks() / (2 * (tuning.ranks() - 1));
    std::int64_t slice = of_nvls(tuning).slice;
    if (tuning.machines() > 1 && rate < slow) slice = 32 * kibibyte;
    return cut_at_once(slice, size.count, at_a_time,
                       {{64, 64 * kibibyte}, {8, 32 * kibibyte}, {2, 16 * kibibyte}});
}

// Threads take turns at the heads: a channel less while each has less than 512 bytes, or beside few
// channels half and a quarter of it.
int channels_of_direct(const NcclTuning& tuning, Bytes size) {
    constexpr int threads = 640;
    int channels = tuning.channels();
    std::int64_t least = 512;
    const auto is_short = [&] {
        return size.count < std::int64_t{channels} * threads * tuning.heads() * least;
    };
    for (int few = 16; few >= 1 && is_short(); few /= 2)
        while (channels > few && is_short()) {
            if (channels == few + few / 2) least /= 2;
            --channels;
        }
    return channels;
}

}  // namespace

int nccl_channels(const NcclTuning& tuning, Algorithm algorithm, NcclProtocol protocol,
                  Bytes size) {
    if (algorithm >= Algorithm::nvls) {
        const int channels = of_nvls(tuning).channels;
        return algorithm == Algorithm::nvls && tuning.machines() > 1
                   ? std::min(channels, tuning.channels())
                   : channels;
    }
    if (algorithm == Algorithm::collnet_direct) return channels_of_direct(tuning, size);
    std::int64_t per_channel = std::int64_t{8} * 512;
    if (protocol == NcclProtocol::ll128) per_channel = std::int64_t{8} * 640;
    if (protocol == NcclProtocol::simple) per_channel = std::int64_t{64} * 512;
    if (algorithm == Algorithm::collnet_chain) per_channel = std::int64_t{512} * 640;
    if (protocol == NcclProtocol::ll && algorithm == Algorithm::ring) per_channel *= tuning.ranks();
    return static_cast<int>(
        std::clamp<std::int64_t>(size.count / per_channel, 1, tuning.channels()));
}

std::int64_t nccl_slice_of_channel(const NcclTuning& tuning, Algorithm algorithm,
                                   NcclProtocol protocol, int channels, Bytes size) {
    const std::int64_t at_a_time = std::int64_t{channels} * tuning.heads();
    const std::int64_t devices = tuning.per_machine();
    switch (algorithm) {
        case Algorithm::nvls:
            return slice_of_nvls(tuning, at_a_time, size);
        case Algorithm::nvls_tree: {
            const OfNvls own = of_nvls(tuning);
            return cut_at_once(std::min(own.slice, own.most_of_tree), size.count, at_a_time,
                               {{32, 256 * kibibyte},
                                {16, 128 * kibibyte},
                                {4, 64 * kibibyte},
                                {1, 32 * kibibyte}});
        }
        case Algorithm::collnet_direct:
            return halved(512 * kibibyte, size.count, at_a_time,
                          {{128, 128 * kibibyte}, {16, 32 * kibibyte}});
        case Algorithm::collnet_chain:
            return halved(256 * kibibyte, size.count, channels,
                          {{64 * devices, 128 * kibibyte},
                           {8 * devices, 64 * kibibyte},
                           {devices, 32 * kibibyte}});
        case Algorithm::ring:
        case Algorithm::tree:
            break;
    }
    if (protocol == NcclProtocol::ll) return 32 * kibibyte;
    if (protocol == NcclProtocol::simple)
        return (algorithm == Algorithm::ring ? 1024 : 512) * kibibyte;
    return algorithm == Algorithm::tree ? slice_of_tree_by_ll128(tuning, channels, size)
                                        : 576 * kibibyte;
}

}  // namespace paceline
