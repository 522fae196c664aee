// The network of a job as closed forms see it, while nobody else uses it.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/forms/closed_forms.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

/// If workers are islands, one in each machine, who exchanges for them
/// (algorithms/runtime/island.hpp).
enum class IslandLanes : std::uint8_t {
    none,     // workers are no islands
    leaders,  // first devices, which broadcast inside
    shards,   // device i chunk i; an all-gather inside follows
    kept,     // the same, and nothing follows
};

/// Workers as closed forms see them: one per machine on a star, or several per machine on a bus.
struct IdleNetwork {
    IdleStar star;                // bandwidth of a machine's card, latency from worker to worker
    std::optional<IdleStar> bus;  // between workers on one machine; empty: one worker each
    int devices = 1;              // workers per machine
    /// Rate of copies between the workers of a machine and its host, if collectives are staged
    /// there.
    std::optional<Bandwidth> staging{};
    int cards = 1;  // of a machine; each serves as many of its workers
    /// Rate at which a worker's processor adds up what all-reduces bring, if it does.
    std::optional<Bandwidth> sums{};
    IslandLanes islands = IslandLanes::none;

    /// Returns how many workers of a machine share a card.
    [[nodiscard]] int sharing() const { return devices / cards; }
};

}  // namespace paceline
