#include "app/study/run_queue.hpp"

#include <algorithm>
#include <utility>

namespace paceline {

std::vector<std::size_t> RunQueue::take_kept(const std::vector<std::size_t>& wanted) {
    std::vector<std::size_t> rest;
    for (const std::size_t run : wanted) {
        if (auto kept = kept_->find(runs_.key(run)))
            results_[run] = std::move(*kept);
        else
            rest.push_back(run);
    }
    return rest;
}

void RunQueue::add(const std::vector<std::size_t>& to_do) {
    progress_.expects(to_do);
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t run : to_do) order.emplace_back(-progress_.expected_s(run), run);
    std::ranges::sort(order);
    const std::scoped_lock lock(mutex_);
    for (const auto& [seconds, run] : order) to_do_.push_back(run);
}

std::optional<std::size_t> RunQueue::next() {
    const std::scoped_lock lock(mutex_);
    if (to_do_.empty()) return std::nullopt;
    const std::size_t run = to_do_.front();
    to_do_.pop_front();
    return run;
}

void RunQueue::finished(std::size_t run, PointResult result) {
    if (kept_ != nullptr && result.metrics.outcome != "error") kept_->keep(runs_.key(run), result);
    progress_.finished(run, result);
    const std::scoped_lock lock(mutex_);
    results_[run] = std::move(result);
}

}  // namespace paceline
