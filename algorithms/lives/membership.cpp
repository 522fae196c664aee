#include "algorithms/lives/membership.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Keeps the streams of attempts apart from those of rounds.
constexpr Stream attempt_streams = Stream{1} << 62U;

}  // namespace

Task<> wait_for(std::shared_ptr<Signal> signal, WaitReason reason) {
    co_await signal->happened(reason);
}

Membership::Membership(int nodes, bool stalls, CloseAttempt close)
    : nodes_(static_cast<std::size_t>(nodes)),
      present_(nodes),
      stalls_(stalls),
      close_(std::move(close)) {}

std::vector<int> Membership::nodes_in(State state) const {
    std::vector<int> found;
    for (int node = 0; std::cmp_less(node, nodes_.size()); ++node)
        if (at(node).state == state) found.push_back(node);
    return found;
}

std::vector<int> Membership::all_present() const {
    return nodes_in(State::present);
}

void Membership::leave(int node, Time known, const HasArrived& has_arrived) {
    Node& left = at(node);
    PACELINE_CHECK(left.state != State::away, "a node that is away cannot leave");
    if (std::exchange(left.state, State::away) == State::present) --present_;
    ++away_;
    left.known = known;
    std::exchange(left.death, std::make_shared<Signal>())->fire();
    std::exchange(change_, std::make_shared<Signal>())->fire();
    for (auto attempt = attempts_.begin(); attempt != attempts_.end();) {
        if (std::ranges::find(attempt->second->group->members, node) ==
            attempt->second->group->members.end()) {
            ++attempt;
            continue;
        }
        attempt->second->broken.fire();
        attempt = attempts_.erase(attempt);
    }
    std::erase_if(mail_, [&](const auto& entry) {
        const auto& [round, way] = entry.first;
        const auto [to, from] = way;
        return to == node || (from == node && !has_arrived(round, to));
    });
}

Time Membership::last_detection(const Group& group, Stream round) const {
    Time all{};
    for (const int member : group.members)
        if (const Node& node = at(member); node.state == State::away && node.first_round <= round)
            all = std::max(all, node.known);
    return all;
}

void Membership::make_ready(int node) {
    PACELINE_CHECK(at(node).state == State::away, "who returns was away");
    at(node).state = State::ready;
    if (--away_ == 0 && all_back_) std::exchange(all_back_, nullptr)->fire();
}

void Membership::join(int node, Stream first_round) {
    PACELINE_CHECK(at(node).state == State::ready, "who joins is ready");
    at(node).state = State::present;
    at(node).first_round = first_round;
    ++at(node).life;
    ++present_;
    std::exchange(change_, std::make_shared<Signal>())->fire();
}

AttemptPtr Membership::attempt(const Group& among, Stream round) {
    AttemptPtr& attempt = attempts_[round];
    if (attempt == nullptr) {
        Group group;
        for (const int node : among.members)
            if (takes_part(node, round)) group.members.push_back(node);
        group.epoch = ++attempts_begun_;
        const Stream stream = attempt_streams | group.epoch;
        attempt = std::make_shared<Attempt>(std::make_shared<const Group>(std::move(group)), stream,
                                            close_);
    }
    return attempt;
}

std::shared_ptr<Signal> Membership::all_back() {
    if (away_ == 0) {
        auto back = std::make_shared<Signal>();
        back->fire();
        return back;
    }
    if (!all_back_) all_back_ = std::make_shared<Signal>();
    if (on_stall) on_stall();
    return all_back_;
}

void Membership::put_mail(Stream round, int from, int to, const Vector& v) {
    mail_.insert_or_assign({round, {to, from}}, v);
}

bool Membership::has_mail(Stream round, int from, int to) const {
    return mail_.contains({round, {to, from}});
}

std::optional<Vector> Membership::take_mail(Stream round, int from, int to) {
    const auto found = mail_.find({round, {to, from}});
    if (found == mail_.end()) return std::nullopt;
    std::optional<Vector> v = std::move(found->second);
    mail_.erase(found);
    return v;
}

}  // namespace paceline
