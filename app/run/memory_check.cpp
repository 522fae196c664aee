#include "app/run/memory_check.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "app/json/config_error.hpp"
#include "app/scenario/memory_estimate.hpp"

namespace paceline {

void MemoryCheck::see(const Point& point) {
    const Bytes bytes = estimated_memory(point.scenario);
    if (const auto& training = point.scenario.training) {
        const Bytes data = training->data.shape.bytes;
        largest_data_ = std::max(largest_data_, data);
        if (data_sets_.insert(std::hash<std::string>{}(training->data.identity)).second) {
            data_of_all_ += data;
            if (training->data.is_generated) generated_ += data;
        }
    }
    if (largest_.size() == jobs_ && bytes <= largest_.back().bytes) return;
    const auto place =
        std::ranges::upper_bound(largest_, bytes, std::ranges::greater{}, &Need::bytes);
    const ClusterChoice& cluster = point.scenario.cluster;
    largest_.insert(place, {bytes, cluster.workers, cluster.bus.has_value(), point.choice});
    if (largest_.size() > jobs_) largest_.pop_back();
}

Bytes MemoryCheck::need(const AvailableMemory& memory) const {
    Bytes need;
    for (const Need& one : largest_) need += one.bytes;
    const Bytes at_a_time = std::ssize(largest_) * largest_data_;
    return need + std::min(data_of_all_, std::max(memory.room_for_data(), at_a_time));
}

void MemoryCheck::check(const std::string& file, const std::vector<Axis>& axes,
                        const AvailableMemory& memory) const {
    if (largest_.empty() || !memory.is_below(need(memory))) return;
    const Need& most = largest_.front();
    std::string path = most.by_devices ? "cluster" : "cluster.nodes";
    for (std::size_t i = 0; i < axes.size(); ++i)
        if (axes[i].path == "cluster.nodes" || axes[i].path == "cluster.devices")
            path = fmt::format("sweep.{}[{}]", axes[i].path, most.choice[i]);
    throw ConfigError(
        file, path,
        fmt::format("{} workers, {} points at a time, need {}; use fewer nodes, a smaller fabric "
                    "or a smaller --jobs",
                    most.workers, largest_.size(), beside_free(need(memory), memory)));
}

void check_memory(const Study& study, int jobs) {
    MemoryCheck memory(jobs);
    for (const Point& point : study.points) memory.see(point);
    memory.check(study.file, study.axes, study.sources.memory());
}

}  // namespace paceline
