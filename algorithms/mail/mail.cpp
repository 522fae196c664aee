#include "algorithms/mail/mail.hpp"

#include <utility>

namespace paceline {

void Mail::expect(int from, int to, int box, Letter letter) {
    delivered_.clear();
    const auto place = under_way_.insert(under_way_.end(), {from, to});
    place->delivery.emplace(
        network_.simulation().start(process_, deliver(place, box, std::move(letter))));
}

// A coroutine cannot destroy its own frame, so the letter moves to those that are erased later.
Task<> Mail::deliver(Letters::iterator place, int box, Letter letter) {
    co_await Receive(network_, place->to, place->from, lane_of(box));
    this->box(place->to, box).put(std::move(letter));
    delivered_.splice(delivered_.end(), under_way_, place);
}

void Mail::forget(int rank) {
    std::erase_if(under_way_, [rank](const UnderWay& letter) {
        return letter.from == rank || letter.to == rank;
    });
    if (!boxes_.empty()) boxes_[static_cast<std::size_t>(rank)].clear();
}

void Mail::clear() {
    under_way_.clear();
    delivered_.clear();
    for (auto& boxes : boxes_) boxes.clear();
}

std::size_t Mail::size() const {
    std::size_t letters = under_way_.size() + delivered_.size();
    for (const auto& boxes : boxes_)
        for (const auto& [number, box] : boxes) letters += box.size();
    return letters;
}

}  // namespace paceline
