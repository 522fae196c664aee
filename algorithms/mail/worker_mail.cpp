#include "algorithms/mail/worker_mail.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "algorithms/lives/lives.hpp"
#include "algorithms/mail/mail.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

// Servers have the ranks after those of the workers, islands or devices.
int WorkerMail::device_of(int rank) const {
    if (island_ == nullptr) return rank;
    const auto islands = static_cast<int>(island_->islands->size());
    if (rank >= islands) return island_->devices + rank - islands;
    return (*island_->islands)[static_cast<std::size_t>(rank)].front();
}

Task<> WorkerMail::post(int to, int box, Letter letter, Bytes weight) {
    const int device = device_of(to);
    if (!lives_.present(device)) co_return;
    letter.from = island_ != nullptr ? island_->number : rank_;
    letter.life = lives_.life(rank_);
    mail_.expect(rank_, device, box, std::move(letter));
    co_await mail_.send(rank_, device, box, weight);
}

void WorkerMail::take_back_letters(int to, int box) const {
    mail_.take_back(rank_, device_of(to), box);
}

Task<Letter> WorkerMail::next_letter(int box) {
    Letter letter = co_await mail_.box(rank_, box).get();
    const int vectors = (letter.vector ? 1 : 0) + (letter.second ? 1 : 0);
    if (island_ != nullptr) *island_->news = std::max(*island_->news, vectors);
    co_return letter;
}

Task<std::optional<Letter>> WorkerMail::next_letter_from(int node, int box) {
    if (!lives_.others_fail()) co_return co_await next_letter(box);
    auto first = co_await first_of(next_letter(box), lives_.death_detected(device_of(node)));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

Task<std::optional<Letter>> WorkerMail::next_letter_or_change(int box) {
    if (!lives_.others_fail()) co_return co_await next_letter(box);
    auto first = co_await first_of(
        next_letter(box), wait_for(lives_.membership()->change(), {"a worker that comes or goes"}));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

}  // namespace paceline
