// The point-to-point messages of a worker: vectors, letters and services.
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "algorithms/runtime/shared_state.hpp"
#include "algorithms/runtime/worker.hpp"
#include "algorithms/runtime/worker_state.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

constexpr Stream mail_stream = 0;  // point-to-point; then come boxes, and epochs of groups from 1

}  // namespace

Task<> Worker::send(int to, Vector v) {
    const Bytes size = weigh(v);
    shared_.mail[{own_.rank, to}].push_back(std::move(v));
    co_await Send(shared_.network, own_.rank, to, mail_stream, size, Protocol::eager);
}

Task<Vector> Worker::receive(int from) {
    co_await Receive(shared_.network, own_.rank, from, mail_stream);
    std::deque<Vector>& mail = shared_.mail[{from, own_.rank}];
    Vector v = std::move(mail.front());
    mail.pop_front();
    co_return v;
}

Task<> Worker::post(int to, int box, Letter letter, Bytes weight) {
    if (!present(to)) co_return;
    letter.from = own_.rank;
    letter.life = shared_.life_of(own_.rank);
    shared_.expect_letter(own_.rank, to, box, std::move(letter));
    co_await Send(shared_.network, own_.rank, to, lane_of_box(box), weight, Protocol::eager);
}

void Worker::take_back_letters(int to, int box) const {
    shared_.network.close_lane(to, own_.rank, lane_of_box(box));
}

Task<Letter> Worker::next_letter(int box) {
    co_return co_await own_.boxes[box].get();
}

Task<std::optional<Letter>> Worker::next_letter_or_change(int box) {
    if (!shared_.membership) co_return co_await next_letter(box);
    auto first = co_await first_of(
        next_letter(box), wait_for(shared_.membership->change(), {"a worker that comes or goes"}));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

Task<std::optional<Letter>> Worker::next_letter_from(int node, int box) {
    if (!shared_.membership) co_return co_await next_letter(box);
    auto first = co_await first_of(next_letter(box), death_detected(node));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

std::size_t Worker::letters_in(int box) {
    return own_.boxes[box].size();
}

void Worker::serve(Task<> work) {
    shared_.serve(own_.rank, fmt::format("service of node {}", own_.rank), std::move(work));
}

}  // namespace paceline
