#include "algorithms/lives/checkpoint.hpp"

#include <cstddef>
#include <utility>

namespace paceline {

CheckpointWriter::CheckpointWriter(int workers, const Vector& start) {
    last_.models.assign(static_cast<std::size_t>(workers), start);
    last_.gradients.assign(static_cast<std::size_t>(workers), 0);
}

void CheckpointWriter::begin(Time now, std::int64_t step, const ReplicatedState& replicated,
                             const std::vector<int>& writers) {
    begun_ = now;
    missing_ = {writers.begin(), writers.end()};
    writing_ = last_;  // absent workers keep what they saved last
    writing_->step = step;
    writing_->replicated = replicated;
}

bool CheckpointWriter::save(const WorkerState& worker) {
    if (!writing_ || writing_->step != worker.step) return false;
    const auto rank = static_cast<std::size_t>(worker.rank);
    writing_->models[rank] = worker.model;
    writing_->gradients[rank] = worker.gradients;
    return true;
}

void CheckpointWriter::note_written(int rank) {
    if (!writing_) return;
    missing_.erase(rank);
    if (missing_.empty()) last_ = *std::exchange(writing_, std::nullopt);
}

void CheckpointWriter::drop_unfinished(Time now) {
    writing_.reset();
    begun_ = now;
}

}  // namespace paceline
