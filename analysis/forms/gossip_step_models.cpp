#include "analysis/forms/gossip_step_models.hpp"

#include <algorithm>

namespace paceline {

namespace {

// Returns the time of push-sum's exchange: a step without computation whose vectors have one more
// number.
std::optional<Duration> push_time(const Mixing& mixing, const StepModelInput& in) {
    StepModelInput exchange = in;
    exchange.timing.step = Duration::zero();
    exchange.update = Duration::zero();
    std::vector<Tensor> tensors = in.layout->tensors();
    tensors.push_back({"w", {1}});
    exchange.layout = std::make_shared<const Layout>(std::move(tensors));
    return neighbor_step_time(mixing, 1, false, exchange);
}

std::optional<IdleStar> as_one_star(const StepModelInput& in) {
    if (!in.network.bus) return in.network.star;
    if (in.workers > in.network.devices) return std::nullopt;
    return in.network.bus;
}

}  // namespace

std::optional<Duration> sgp_step_time(const Mixing& mixing, const StepModelInput& in) {
    const std::optional<Duration> push = push_time(mixing, in);
    if (!push) return std::nullopt;
    return sum(free_running_step_time(in), *push);
}

std::optional<Duration> osgp_step_time(const Mixing& mixing, std::int64_t k,
                                       const StepModelInput& in) {
    // Beside a gradient, messages share the devices' links with what is exchanged inside.
    if (in.network.islands != IslandLanes::none) return std::nullopt;
    const std::optional<Duration> push = push_time(mixing, in);
    if (!push) return std::nullopt;
    const Duration work = free_running_step_time(in);
    return k == 0 ? sum(work, *push) : std::max(work, *push);
}

Duration free_running_step_time(const StepModelInput& in) {
    return sum(in.timing.step, in.update);
}

std::optional<Duration> blocking_swarm_step_time(const SwarmSgdOptions& options, std::int64_t k,
                                                 const StepModelInput& in) {
    const Duration work = free_running_step_time(in);
    if (in.workers == 1) return work;
    const std::optional<IdleStar> star = as_one_star(in);
    if (in.workers > 2 || options.steps_law != StepsLaw::fixed || !star) return std::nullopt;
    if ((k + 1) % options.local_steps != 0) return work;
    Duration exchange =
        sum(star->latency, swarm_message(options, *in.layout, in.wire) / star->bandwidth);
    if (options.lattice)
        exchange = sum(exchange, coding_time(options.coding, 2, in.layout->entries()));
    return sum(work, exchange);
}

Bytes swarm_message(const SwarmSgdOptions& options, const Layout& layout, WireFormat wire) {
    return options.lattice ? weigh_codes(*options.lattice, layout.entries())
                           : wire.weigh(layout.entries());
}

}  // namespace paceline
