// What a run takes: memory of a device, tokens, operations, device-hours, energy and money.
//
//   tokens_per_s      tokens of a sample x samples per second
//   flops_per_sample  3 x 2 x multiply-accumulates of the forward pass (models/step_estimate.hpp);
//                     recomputation is not counted
//   mfu               flops_per_sample x samples per second / (devices x a device's peak), model
//                     FLOPs utilization: for a transformer 6 operations a token for each parameter
//                     of a matrix, and 12 L d T, as appendix B of PaLM (Chowdhery et al., arXiv
//                     2204.02311) and mosaicml/llm-foundry count them
//   memory_share      memory_gb / the memory of a device; above 1 it does not fit
//   energy, cost      analysis/measures/money.hpp, of the whole run, and up to the target
#pragma once

#include <optional>

#include "analysis/measures/device_use.hpp"
#include "analysis/measures/metrics.hpp"
#include "app/scenario/scenario.hpp"

namespace paceline {

/// What a job's machines have done.
struct Used {
    DeviceUse by_the_end;
    std::optional<DeviceUse> by_the_target{};
};

/// Adds what follows from the scenario, from the rates, and from what the machines have done.
void add_accounts(Metrics& metrics, const Scenario& scenario, const Used& used);

}  // namespace paceline
