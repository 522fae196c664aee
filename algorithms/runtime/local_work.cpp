#include "algorithms/runtime/local_work.hpp"

#include <cstddef>
#include <utility>

#include "models/tensors/parallel.hpp"

namespace paceline {

LocalWork::Piece::Piece(LocalWork& all, std::function<void()> work)
    : all_(all), work_(std::move(work)) {
    all_.waiting_.push_back(this);
}

LocalWork::Piece::~Piece() {
    if (!done_) std::erase(all_.waiting_, this);
}

void LocalWork::Piece::join() {
    if (!done_) all_.do_all();
    if (failure_) std::rethrow_exception(failure_);
}

void LocalWork::do_all() {
    const auto do_one = [this](std::size_t i) {
        Piece& piece = *waiting_[i];
        try {
            piece.work_();
        } catch (...) {
            piece.failure_ = std::current_exception();
        }
    };
    if (waiting_.size() == 1)
        do_one(0);
    else
        parallel_for(waiting_.size(), do_one);
    for (Piece* piece : waiting_) piece->done_ = true;
    waiting_.clear();
}

}  // namespace paceline
