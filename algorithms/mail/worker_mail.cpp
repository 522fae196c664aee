#include "algorithms/mail/worker_mail.hpp"

#include <utility>

#include "algorithms/lives/lives.hpp"
#include "algorithms/mail/mail.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

Task<> WorkerMail::post(int to, int box, Letter letter, Bytes weight) {
    if (!lives_.present(to)) co_return;
    letter.from = rank_;
    letter.life = lives_.life(rank_);
    mail_.expect(rank_, to, box, std::move(letter));
    co_await mail_.send(rank_, to, box, weight);
}

void WorkerMail::take_back_letters(int to, int box) const {
    mail_.take_back(rank_, to, box);
}

Task<Letter> WorkerMail::next_letter(int box) {
    co_return co_await mail_.box(rank_, box).get();
}

Task<std::optional<Letter>> WorkerMail::next_letter_from(int node, int box) {
    if (!lives_.others_fail()) co_return co_await next_letter(box);
    auto first = co_await first_of(next_letter(box), lives_.death_detected(node));
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
