#include "app/run/accounts.hpp"

#include <numeric>

#include "app/run/step_costs.hpp"
#include "models/step_estimate.hpp"

namespace paceline {

namespace {

void add_memory(Metrics& metrics, const Scenario& scenario) {
    const std::optional<Bytes> memory = device_memory(scenario);
    if (!memory) return;
    metrics.memory_gb = gigabytes(*memory);
    const Workload& workload = scenario.workload;
    if (const auto activations = activations_on_device(scenario))
        metrics.activations_gb = gigabytes(*activations);
    const std::optional<Bytes> device = memory_of_device(scenario);
    const bool is_asked = scenario.resources || workload.recompute || workload.device_memory ||
                          !workload.kinds.empty();
    if (device && is_asked)
        metrics.memory_share =
            static_cast<double>(memory->count) / static_cast<double>(device->count);
}

// Returns the operations per second of all devices together, if they are known.
std::optional<double> peak_of_all(const Workload& workload, int devices) {
    if (workload.kinds.empty()) {
        if (!workload.peak_flops) return std::nullopt;
        return devices * *workload.peak_flops;
    }
    double peak = 0;
    for (const KindOfDevice& kind : workload.kinds) {
        if (!kind.peak_flops) return std::nullopt;
        peak += kind.workers * *kind.peak_flops;
    }
    return peak;
}

void add_net(Metrics& metrics, const Scenario& scenario) {
    if (!scenario.resources) return;
    const Workload& workload = scenario.workload;
    metrics.parameters = static_cast<double>(workload.layout->entries());
    if (workload.tokens && metrics.samples_per_s)
        metrics.tokens_per_s = static_cast<double>(*workload.tokens) * *metrics.samples_per_s;
    const std::vector<double>& all = *workload.tensor_macs;
    const double macs = std::accumulate(all.begin(), all.end(), 0.0);
    if (macs == 0) return;
    metrics.flops_per_sample = estimated_step_flops(macs, 1);
    const auto peak = peak_of_all(workload, metrics.devices);
    if (peak && metrics.samples_per_s)
        metrics.mfu = *metrics.flops_per_sample * *metrics.samples_per_s / *peak;
}

Equipment equipment_of(const Scenario& scenario) {
    const ClusterChoice& cluster = scenario.cluster;
    const int servers = scenario.algorithm.server_nodes;
    const std::int64_t ports =
        cluster.fabric.ports > 0 ? cluster.fabric.ports * cluster.cards() + servers : 0;
    return {std::int64_t{cluster.nodes} + servers, ports};
}

}  // namespace

void add_accounts(Metrics& metrics, const Scenario& scenario, const Used& used) {
    add_memory(metrics, scenario);
    add_net(metrics, scenario);
    const Equipment equipment = equipment_of(scenario);
    const auto energy = [&](const DeviceUse& use) {
        return scenario.power ? energy_kwh(*scenario.power, use, equipment) : 0;
    };
    const DeviceUse& all = used.by_the_end;
    const std::optional<Price>& price = scenario.price;
    if (scenario.resources || (price && price->per_device_hour > 0))
        metrics.device_hours = all.device_hours();
    if (scenario.power) metrics.energy_kwh = energy(all);
    if (price) metrics.cost = cost(*price, all, energy(all));
    if (!used.by_the_target) return;
    if (scenario.power) metrics.energy_to_target_kwh = energy(*used.by_the_target);
    if (price)
        metrics.cost_to_target = cost(*price, *used.by_the_target, energy(*used.by_the_target));
}

}  // namespace paceline
