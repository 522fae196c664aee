#include "sim/ahead/card_times.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

namespace {

// Sums of two stay in range.
constexpr std::int64_t longest_wait = std::int64_t{1} << 61U;

template <class Act>
void for_each_bit(std::uint64_t bits, const Act& act) {
    for (; bits != 0; bits &= bits - 1) act(std::countr_zero(bits));
}

}  // namespace

void CardTimes::begin(std::span<const Ring> rings, const std::vector<Bandwidth>& alone,
                      const std::vector<Bandwidth>& shared) {
    PACELINE_CHECK(!rings.empty() && std::cmp_less_equal(rings.size(), most_abreast),
                   "a hop has so many rings");
    n_ = rings[0].rounds.members;
    count_ = rings[0].rounds.count;
    ended_ = 0;
    std::vector<const Ring*> different;
    like_.clear();
    likes_.clear();
    for (const Ring& ring : rings) {
        const auto found = std::ranges::find_if(
            different, [&ring](const Ring* other) { return are_alike(ring, *other); });
        like_.push_back(static_cast<int>(found - different.begin()));
        if (found == different.end()) {
            different.push_back(&ring);
            const std::int64_t vector = ring.rounds.chunks.vector.count;
            likes_.push_back({0, vector / n_, n_ - static_cast<int>(vector % n_)});
        }
        ++likes_[static_cast<std::size_t>(like_.back())].count;
    }
    rings_ = different.size();
    const auto places = static_cast<std::size_t>(n_);
    members_.assign(places * rings_, {});
    messages_.assign(members_.size(), {});
    overhead_.resize(members_.size());
    latency_.resize(members_.size());
    hops_.assign(places, {});
    width_ = std::bit_ceil(places);
    tree_.assign(2 * width_, unknown);
    changed_.clear();
    for (std::size_t place = 0; place < places; ++place) {
        hops_[place].alone = alone[place];
        hops_[place].bound = bytes_per_tick(alone[place]);
        hops_[place].shared = bytes_per_tick(shared[place]);
    }
    for (int number = 0; const Ring* const ring : different) enter(*ring, number++);
    for (int place = 0; place < n_; ++place)
        for (int ring = 0; ring < static_cast<int>(rings_); ++ring) meet(ring, place);
}

bool CardTimes::are_alike(const Ring& a, const Ring& b) {
    const auto take_equally_long = [](const Wire& one, const Wire& other) {
        return one.latency == other.latency && one.overhead == other.overhead;
    };
    return a.rounds.chunks.vector == b.rounds.chunks.vector &&
           a.rounds.chunks.first == b.rounds.chunks.first && a.entries == b.entries &&
           std::ranges::equal(a.wires, b.wires, take_equally_long);
}

// The members of a ring that are here begin their first rounds.
void CardTimes::enter(const Ring& ring, int number) {
    for (int place = 0; place < n_; ++place) {
        const auto at = static_cast<std::size_t>(place);
        const std::size_t own = index(number, place);
        overhead_[own] = ring.wires[at].overhead.count();
        latency_[own] = ring.wires[at].latency.count();
        messages_[own].chunk = (ring.rounds.chunks.first + place + 1) % n_;
        if (ring.entries[at] == never) continue;
        members_[own].round = 0;
        members_[own].begin = ring.entries[at].time_since_epoch().count();
    }
}

// --- instants ---

bool CardTimes::run_before(Time until, int instants) {
    const Ticks end = std::min(until.time_since_epoch().count(), longest_wait);
    for (; instants > 0; --instants) {
        const Ticks now = tree_[1];
        if (now >= end) return false;
        while (tree_[1] == now) visit(earliest_hop(), now);
        for (const int hop : changed_) set_rates(hop, now);
        changed_.clear();
    }
    return true;
}

int CardTimes::earliest_hop() const {
    std::size_t node = 1;
    while (node < width_) node = 2 * node + (tree_[2 * node] == tree_[1] ? 0 : 1);
    return static_cast<int>(node - width_);
}

void CardTimes::set_next(int hop, Ticks at) {
    std::size_t node = width_ + static_cast<std::size_t>(hop);
    tree_[node] = at;
    while (node > 1) {
        node /= 2;
        const Ticks earliest = std::min(tree_[2 * node], tree_[2 * node + 1]);
        if (tree_[node] == earliest) return;
        tree_[node] = earliest;
    }
}

// What drains on the hop in this instant, and what begins to flow.
void CardTimes::visit(int place, Ticks now) {
    Hop& hop = hops_[static_cast<std::size_t>(place)];
    if (!hop.changed) changed_.push_back(place);
    hop.changed = true;
    for_each_bit(hop.flowing, [&](int ring) {
        if (messages_[index(ring, place)].drain == now) drains(ring, place, now);
    });
    for_each_bit(hop.preparing, [&](int ring) {
        Message& message = messages_[index(ring, place)];
        if (message.start != now) return;
        hop.preparing &= ~ring_bit(ring);
        hop.flowing |= ring_bit(ring);
        hop.messages += likes_[static_cast<std::size_t>(ring)].count;
        message.since = now;
        message.remaining = static_cast<double>(message.size);
        message.rate = 0;
    });
    set_next(place, unknown);
}

void CardTimes::drains(int ring, int place, Ticks now) {
    Hop& hop = hops_[static_cast<std::size_t>(place)];
    hop.flowing &= ~ring_bit(ring);
    hop.messages -= likes_[static_cast<std::size_t>(ring)].count;
    const std::size_t own = index(ring, place);
    members_[own].drained = now;
    members_[index(ring, next(place))].arrived = now + latency_[own];
    end_round(ring, next(place));
    end_round(ring, place);
}

// The member's round ends, if both of its parts are known.
void CardTimes::end_round(int ring, int place) {
    Member& member = members_[index(ring, place)];
    if (member.drained == unknown || member.arrived == unknown) return;
    member.begin = std::max(member.drained, member.arrived);
    member.drained_before = std::exchange(member.drained, unknown);
    member.arrived_before = std::exchange(member.arrived, unknown);
    if (++member.round == count_) {
        member.ends_by =
            member.arrived_before >= member.drained_before ? EventRank::arrives : EventRank::drains;
        ++ended_;
        return;
    }
    meet(ring, place);
    meet(ring, before(place));
}

// The member's message sets out once it and its receiver have begun the round.
void CardTimes::meet(int ring, int place) {
    const int round = members_[index(ring, place)].round;
    if (round >= 0 && round == members_[index(ring, next(place))].round) set_out(ring, place);
}

void CardTimes::set_out(int ring, int place) {
    const std::size_t own = index(ring, place);
    const Member& member = members_[own];
    const Like& like = likes_[static_cast<std::size_t>(ring)];
    Message& message = messages_[own];
    message.round = member.round;
    message.chunk = message.chunk > 0 ? message.chunk - 1 : n_ - 1;
    message.size = like.shorter + (message.chunk >= like.first_longer ? 1 : 0);
    message.set_out = std::max(member.begin, members_[index(ring, next(place))].begin);
    message.start = message.set_out + overhead_[own];
    message.drain = unknown;
    Hop& hop = hops_[static_cast<std::size_t>(place)];
    hop.preparing |= ring_bit(ring);
    if (message.start < tree_[width_ + static_cast<std::size_t>(place)])
        set_next(place, message.start);
}

// As Network::set_rates: a message that is alone from its beginning is timed in integers.
void CardTimes::set_rates(int place, Ticks now) {
    Hop& hop = hops_[static_cast<std::size_t>(place)];
    hop.changed = false;
    const double rate = std::min(hop.bound, hop.shared / static_cast<double>(hop.messages));
    Ticks soonest = unknown;
    for_each_bit(hop.flowing, [&](int ring) {
        Message& message = messages_[index(ring, place)];
        if (message.rate == 0 && hop.messages == 1) {
            const Duration alone = Bytes{message.size} / hop.alone;
            message.drain = now + std::min(alone.count(), longest_wait);
        } else if (message.rate != rate) {
            const auto elapsed = static_cast<double>(now - message.since);
            message.remaining = std::max(0.0, message.remaining - message.rate * elapsed);
            message.since = now;
            const double ticks = std::ceil(message.remaining / rate);
            message.drain =
                now + (ticks < static_cast<double>(longest_wait) ? static_cast<Ticks>(ticks)
                                                                 : longest_wait);
        }
        message.rate = rate;
        soonest = std::min(soonest, message.drain);
    });
    for_each_bit(hop.preparing, [&](int ring) {
        soonest = std::min(soonest, messages_[index(ring, place)].start);
    });
    set_next(place, soonest);
}

// --- where members stand ---

CardTimes::Standing CardTimes::standing(int ring, int place, Time now) const {
    const int like = like_[static_cast<std::size_t>(ring)];
    const std::size_t own = index(like, place);
    const std::size_t sender = index(like, before(place));
    const Member& member = members_[own];
    const auto message = [this](std::size_t from, Ticks set_out, Ticks drain) -> RoundMessage {
        return {.set_out = time(set_out),
                .drain = time(drain),
                .arrive = drain == unknown ? never : time(drain + latency_[from])};
    };
    Standing standing{.round = member.round, .begin = time(member.begin)};
    if (member.round > 0 && time(member.begin) >= now) {  // what it receives is on its way
        --standing.round;
        standing.sent = message(own, member.drained_before, member.drained_before);
        const Ticks drain = member.arrived_before - latency_[sender];
        standing.received = message(sender, drain, drain);
    } else if (member.round < count_) {
        const Message& sent = messages_[own];
        const Message& received = messages_[sender];
        if (sent.round == member.round) standing.sent = message(own, sent.set_out, sent.drain);
        if (received.round == member.round)
            standing.received = message(sender, received.set_out, received.drain);
    }
    return standing;
}

FlowProgress CardTimes::progress(int ring, int place) const {
    const Message& message = messages_[index(like_[static_cast<std::size_t>(ring)], place)];
    return {time(message.since), message.remaining, message.rate};
}

}  // namespace paceline
