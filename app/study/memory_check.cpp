#include "app/study/memory_check.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "app/host/available_memory.hpp"
#include "app/json/config_error.hpp"
#include "app/scenario/memory_estimate.hpp"

namespace paceline {

void MemoryCheck::see(const Point& point) {
    const Bytes bytes = estimated_memory(point.scenario);
    if (largest_.size() == jobs_ && bytes <= largest_.back().bytes) return;
    const auto place =
        std::ranges::upper_bound(largest_, bytes, std::ranges::greater{}, &Need::bytes);
    const ClusterChoice& cluster = point.scenario.cluster;
    largest_.insert(place, {bytes, cluster.workers, cluster.bus.has_value(), point.choice});
    if (largest_.size() > jobs_) largest_.pop_back();
}

Bytes MemoryCheck::need() const {
    Bytes need;
    for (const Need& one : largest_) need += one.bytes;
    return need;
}

void MemoryCheck::check(const std::string& file, const std::vector<Axis>& axes) const {
    const Bytes free = available_memory();
    if (largest_.empty() || free == Bytes{0} || need() <= free) return;
    const Need& most = largest_.front();
    std::string path = most.by_devices ? "cluster" : "cluster.nodes";
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].path == "cluster.nodes" || axes[i].path == "cluster.devices")
            path = fmt::format("sweep.{}[{}]", axes[i].path, most.choice[i]);
    throw ConfigError(
        file, path,
        fmt::format(
            "{} workers on {} threads need about {:.1f} GB of memory and {:.1f} GB are free; "
            "use fewer nodes, a smaller fabric or a smaller --jobs",
            most.workers, largest_.size(), static_cast<double>(need().count) * 1e-9,
            static_cast<double>(free.count) * 1e-9));
}

void check_memory(const Study& study, int jobs) {
    MemoryCheck memory(jobs);
    for (const Point& point : study.points) memory.see(point);
    memory.check(study.file, study.axes);
}

}  // namespace paceline
