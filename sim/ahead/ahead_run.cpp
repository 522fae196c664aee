#include "sim/ahead/ahead_run.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

void AheadRun::begin(const MessageRounds& of_rounds, Stream of_stream, std::uint64_t of_number,
                     EventKind of_kind) {
    rounds = of_rounds;
    stream = of_stream;
    number = of_number;
    kind = of_kind;
    by_events = takes_no_time = false;
    cards = nullptr;
    entered = inside = 0;
    const auto places = static_cast<std::size_t>(rounds.members);
    hosts.resize(places);
    entries.assign(places, never);
    members.assign(places, nullptr);
    ends.assign(places, {});
    traffic.resize(rounds.passes_chunks() ? 0 : places);
}

// --- members ---

bool AheadTicket::enter(NetworkPart network, Stream stream, int place, PlacesOfHosts hosts,
                        const MessageRounds& rounds) {
    hosts.offset = network.in_network(0);
    network_ = &network.whole();
    member_.stream = stream;
    member_.host = hosts(place);
    member_.entered = Ahead::of(*network_).enter(member_, place, hosts, rounds);
    return member_.entered;
}

AheadTicket::~AheadTicket() {
    if (member_.run != nullptr) member_.run->ahead.hand_over(*member_.run);
    for (OpenLane& lane : member_.lanes) {
        if (lane.join.complete()) continue;
        if (lane.sends_to >= 0) network_->forget(lane.message);
        if (lane.awaits >= 0)
            network_->withdraw(member_.host, lane.awaits, member_.stream, lane.join);
    }
}

// --- entries ---

Ahead& Ahead::of(Network& network) {
    std::unique_ptr<Reserver>& reserver = network.reservations().reserver;
    if (reserver == nullptr) reserver = std::make_unique<Ahead>(network);
    return static_cast<Ahead&>(*reserver);  // nobody else reserves
}

Ahead::Ahead(Network& network)
    : network_(network),
      simulation_(network.simulation()),
      reservations_(network.reservations()),
      owners_(network.hosts(), network.links(), reservations_.owners) {}

bool Ahead::can_run(int host) const {
    return of_host_[static_cast<std::size_t>(host)] == nullptr &&
           network_.is_idle(host, owners_.links_of(host));
}

namespace {

// Messages without bytes drain in the instant in which they set out, so that many things happen in
// it.
bool has_empty_chunks(const MessageRounds& rounds) {
    return rounds.passes_chunks() &&
           rounds.chunks.vector.count < std::int64_t{rounds.members} * rounds.chunks.slices;
}

}  // namespace

// Returns the oldest collective of these members that the member has not entered.
AheadRun& Ahead::run_for(const AheadMember& member, int place, const PlacesOfHosts& hosts,
                         const MessageRounds& rounds) {
    Gathering& waiting = gathering_[{member.stream, hosts(0), hosts(1), rounds.members}];
    for (AheadRun* const run : waiting) {
        if (run->is_here(place)) continue;
        PACELINE_CHECK(run->rounds.partners == rounds.partners && run->rounds.count == rounds.count,
                       "all members of a collective call the same one");
        return *run;
    }
    if (free_.empty()) free_.push_back(std::make_unique<AheadRun>(*this));
    runs_.push_back(std::move(free_.back()));
    free_.pop_back();
    AheadRun& run = *runs_.back();
    run.begin(rounds, member.stream, begun_++, simulation_.running_kind());
    for (int i = 0; i < rounds.members; ++i) run.hosts[AheadRun::at(i)] = hosts(i);
    of_host_.resize(static_cast<std::size_t>(network_.hosts()));
    waiting.push_back(&run);
    if (!has_empty_chunks(rounds) && join_cards(run, hosts)) return run;
    const LinkOwners::Routes routes =
        owners_.claim(run.rounds, run.hosts, network_.find_route(),
                      [this](LinkId link) { return network_.is_unlimited(link); });
    run.by_events = !routes.have_owners || has_empty_chunks(rounds);
    run.has_halves = routes.have_halves && network_.has_half_wires();
    run.up.resize(run.has_halves && !rounds.passes_chunks() ? run.count() : 0);
    run.down.resize(run.up.size());
    if (rounds.grouped) {
        run.by_events = run.by_events || !run.has_halves || network_.reports_sums() ||
                        rounds.cost.occupies.between > Duration::zero() ||
                        rounds.cost.delays.between > Duration::zero();
        run.group.begin(run.rounds);
    } else if (!rounds.passes_chunks()) {
        run.times.begin(run.rounds, [this, &run](int from, int to) { return wire(run, from, to); });
    }
    return run;
}

bool Ahead::enter(AheadMember& member, int place, const PlacesOfHosts& hosts,
                  const MessageRounds& rounds) {
    if (rounds.members == 1 || rounds.count == 0 || !network_.follows_wires()) return false;
    AheadRun& run = run_for(member, place, hosts, rounds);
    const int host = run.host(place);
    PACELINE_CHECK(host == member.host, "all members of a collective agree on its members");
    if (!run.by_events && (run.cards == nullptr ? !can_run(host) : !can_run_beside(run, place)))
        hand_over(run);
    run.entries[AheadRun::at(place)] = simulation_.now();
    if (++run.entered == rounds.members) {
        const auto found = gathering_.find({run.stream, hosts(0), hosts(1), rounds.members});
        found->second.erase(std::ranges::find(found->second, &run));
        if (found->second.empty()) gathering_.erase(found);
    }
    if (run.by_events) {
        if (run.entered == rounds.members) retire(run);
        return false;
    }
    run.members[AheadRun::at(place)] = &member;
    member.run = &run;
    of_host_[static_cast<std::size_t>(host)] = &run;
    if (run.inside++ == 0) ++reservations_.active;
    if (run.cards != nullptr) use_card(*run.cards, place);
    if (!run.up.empty()) {
        run.up[AheadRun::at(place)] = network_.half_wire(owners_.up(host));
        run.down[AheadRun::at(place)] = network_.half_wire(owners_.down(host));
    }
    if (!follow(run, place)) hand_over(run);
    return true;
}

// Works out all that the member's entry decides. Returns false if it cannot run ahead.
bool Ahead::follow(AheadRun& run, int place) {
    if (run.cards != nullptr) return follow_cards(run, place);
    if (run.rounds.passes_chunks()) return run.entered < run.rounds.members || run_ring(run);
    if (run.rounds.grouped) return follow_group(run, place);
    run.times.enter(place, run.entries[AheadRun::at(place)]);
    if (run.times.failed()) return false;
    std::vector<int>& ended = run.times.ended();
    std::ranges::sort(ended);
    for (const int one : ended) {
        run.traffic[AheadRun::at(one)] = run.times.traffic(one);
        schedule_end(run, one, run.times.end(one), run.times.ends_by(one));
    }
    ended.clear();
    return true;
}

namespace {

constexpr int messages_between_looks = 1 << 26;

}  // namespace

bool Ahead::run_ring(AheadRun& run) {
    find_ring_wires(run);
    const bool has_slots = run.rounds.slots > 0;
    if (has_slots ? !run.slots.begin(run.rounds, run.ring_wires, run.way_back, run.entries)
                  : !run.ring.begin(run.rounds, run.ring_wires, run.entries))
        return false;
    if (run.takes_no_time) {
        schedule_end_of_all(run);
        return true;
    }
    return has_slots ? run_times(run, run.slots) : run_times(run, run.ring);
}

template <class Times>
bool Ahead::run_times(AheadRun& run, Times& times) {
    // A stop is noticed within some hundredths of a second; then the run ends, whichever way this
    // goes on.
    const int rounds = std::max(1, messages_between_looks / run.rounds.members);
    while (!times.run_on(rounds))
        if (simulation_.is_to_stop()) return false;
    times.run_to_end();
    if (times.ends_at_once()) return false;
    for (int place = 0; place < run.rounds.members; ++place)
        schedule_end(run, place, times.end(place), times.ends_by(place));
    return true;
}

// What a member exchanges in its first rounds.
RoundTraffic Ahead::ring_traffic(const AheadRun& run, int place, int sent, int received) {
    const int before = run.before(place);
    RoundTraffic traffic{.messages = received};
    if (run.ring_wires[AheadRun::at(place)].apart) traffic.sent = run.chunks().sent(place, sent);
    if (run.ring_wires[AheadRun::at(before)].apart)
        traffic.received = run.chunks().sent(before, received);
    return traffic;
}

// --- wires ---

Wire Ahead::wire(const AheadRun& run, int from, int to) {
    Wire wire = wire_of_route(run, from, to);
    wire.overhead = sum(wire.overhead, run.rounds.cost.occupies.of(wire.apart));
    wire.latency = sum(wire.latency, run.rounds.cost.delays.of(wire.apart));
    return wire;
}

Wire Ahead::wire_of_route(const AheadRun& run, int from, int to) {
    if (!run.up.empty()) return joined(run.up[AheadRun::at(from)], run.down[AheadRun::at(to)]);
    const int sender = run.host(from);
    const int receiver = run.host(to);
    if (run.has_halves)
        return joined(network_.half_wire(owners_.up(sender)),
                      network_.half_wire(owners_.down(receiver)));
    network_.find_route()(sender, receiver, route_);
    return network_.wire(sender, receiver, route_);
}

void Ahead::find_ring_wires(AheadRun& run) {
    run.ring_wires.resize(run.count());
    run.way_back.resize(run.rounds.slots > 0 ? run.count() : 0);
    for (int place = 0; place < run.rounds.members; ++place)
        run.ring_wires[AheadRun::at(place)] = wire(run, place, run.next(place));
    for (std::size_t i = 0; i < run.way_back.size(); ++i) {
        // Links have owners on the ways there, so halves do not tell this one.
        const int place = static_cast<int>(i);
        const int from = run.host(run.next(place));
        network_.find_route()(from, run.host(place), route_);
        run.way_back[i] = network_.wire(from, run.host(place), route_).latency;
    }
    run.takes_no_time = std::ranges::all_of(run.ring_wires, &Wire::takes_no_time);
}

// --- ends ---

void Ahead::schedule_end(AheadRun& run, int place, Time at, EventRank by) {
    run.ends[AheadRun::at(place)] =
        simulation_.at(at, action<&AheadRun::end_member>(run, static_cast<std::uint32_t>(place)),
                       run.kind, {by, run.host(place), run.stream});
}

void Ahead::schedule_end_of_all(AheadRun& run) {
    run.ends[0] = simulation_.at(simulation_.now(), action<&AheadRun::end_all>(run, 0), run.kind,
                                 {EventRank::arrives, run.host(0), run.stream});
}

void Ahead::all_end(AheadRun& run) {
    const int members = run.rounds.members;
    for (int place = 0; place < members; ++place) member_ends(run, place);
}

void Ahead::member_ends(AheadRun& run, int place) {
    const std::size_t at = AheadRun::at(place);
    AheadMember& member = *std::exchange(run.members[at], nullptr);
    count(run.host(place), run.rounds.passes_chunks()
                               ? ring_traffic(run, place, run.rounds.count, run.rounds.count)
                               : run.traffic[at]);
    of_host_[static_cast<std::size_t>(run.host(place))] = nullptr;
    member.run = nullptr;
    if (--run.inside == 0) --reservations_.active;
    if (run.cards != nullptr) {
        leave_card(*run.cards, place);
    } else if (run.inside == 0 && run.entered == run.rounds.members) {
        ++finished_;
        if (network_.reports_sums()) report_all(run);
        retire(run);
    }
    member.join.arrive();
}

void Ahead::count(int host, const RoundTraffic& of) {
    network_.count(host, of.sent, of.received, of.messages);
}

void Ahead::retire(AheadRun& run) {
    const auto found = std::ranges::find(runs_, &run, &std::unique_ptr<AheadRun>::get);
    PACELINE_CHECK(found != runs_.end(), "a collective ends once");
    if (run.cards != nullptr) forget_ring(run);
    run.cards = nullptr;
    std::swap(*found, runs_.back());
    free_.push_back(std::move(runs_.back()));
    runs_.pop_back();
}

// --- what hands over ---

void Ahead::touch_host(int host) {
    if (host >= network_.hosts()) {
        if (AheadCards* const cards = of_card(host)) cards_are_due(*cards);
    } else if (AheadRun* const run = of_host_[static_cast<std::size_t>(host)]) {
        hand_over(*run);
    }
}

void Ahead::touch_bandwidth(LinkId link) {
    const int owner = reservations_.owners[link];  // a host, or a card
    const auto used_by = [owner](const std::unique_ptr<AheadRun>& run) {
        const AheadCards* const cards = run->cards;
        if (cards != nullptr && cards->is_in_use() && cards->is_here(owner)) return true;
        const auto found = std::ranges::find(run->hosts, owner);
        const bool is_in_use = cards != nullptr ? cards->is_in_use() : run->inside > 0;
        return is_in_use && found != run->hosts.end() &&
               run->is_here(static_cast<int>(found - run->hosts.begin()));
    };
    if (owner < 0) return;
    for (auto run = std::ranges::find_if(runs_, used_by); run != runs_.end();
         run = std::ranges::find_if(runs_, used_by))
        hand_over(**run);
}

void Ahead::touch_lane(int to, Stream stream) {
    AheadRun* const run = of_host_[static_cast<std::size_t>(to)];
    if (run != nullptr && run->stream == stream) hand_over(*run);
}

void Ahead::touch_all() {
    while (reservations_.active > 0) {
        const auto found = std::ranges::find_if(
            runs_, [](const std::unique_ptr<AheadRun>& run) { return run->inside > 0; });
        PACELINE_CHECK(found != runs_.end(), "what is active exists");
        hand_over(**found);
    }
}

void Ahead::close(Stream stream, std::span<const int> hosts, int first) {
    for (auto it = gathering_.begin(); it != gathering_.end();) {
        const bool is_given_up = it->first.stream == stream &&
                                 std::ranges::binary_search(hosts, it->first.first - first);
        if (is_given_up) {
            for (AheadRun* const run : it->second) retire(*run);
            it = gathering_.erase(it);
        } else {
            ++it;
        }
    }
    const auto is_given_up = [&](const std::unique_ptr<AheadCards>& cards) {
        return cards->stream == stream &&
               std::ranges::binary_search(hosts, cards->first_host - first) &&
               std::ranges::all_of(cards->rings, [](const AheadRun* run) { return !run; });
    };
    for (auto it = std::ranges::find_if(cards_, is_given_up); it != cards_.end();
         it = std::ranges::find_if(cards_, is_given_up))
        drop_cards(**it);
}

}  // namespace paceline
