// Rings that share cards and run ahead of the queue together (sim/ahead/card_times.hpp).
//
// What they share at a place is owned by its card (sim/ahead/link_owners.hpp). A card is in use
// while a member of any of them is there, and whatever touches its links hands all of them over.
//
// Members may enter at any times. The rings are worked out once all members of all rings have
// entered. None ends before, as long as that is less than the time of a message after the first
// ring was complete: behind a member's entry, at least one message of its ring is on the wires
// before anybody ends. If rings are still missing then, all go on by events.
#include <algorithm>
#include <limits>
#include <utility>

#include "sim/ahead/ahead_run.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

bool AheadCards::is_in_use() const {
    return std::ranges::any_of(rings, [](const AheadRun* run) { return run && run->inside > 0; });
}

bool AheadCards::is_here(int card) const {
    const auto found = std::ranges::find(cards, card);
    const int place = static_cast<int>(found - cards.begin());
    return found != cards.end() && std::ranges::any_of(rings, [place](const AheadRun* run) {
               return run && run->is_here(place);
           });
}

// --- entries ---

namespace {

bool pass_whole_chunks(const MessageRounds& rounds) {
    return rounds.passes_chunks() && rounds.chunks.slices == 1 && rounds.open_rounds() == 1 &&
           rounds.slots == 0 && !rounds.relays;
}

}  // namespace

// Returns whether the ring, which has just begun, shares links with others beside it.
bool Ahead::join_cards(AheadRun& run, const PlacesOfHosts& hosts) {
    if (hosts.stride == 1 || std::cmp_greater(hosts.stride, most_abreast) ||
        !pass_whole_chunks(run.rounds) || network_.reports_sums())
        return false;
    AheadCards* const cards = cards_for(run, hosts);
    if (cards == nullptr) return false;
    const int ring = static_cast<int>(hosts.first % hosts.stride);
    const auto index = std::ranges::find(cards->shares.rings, ring) - cards->shares.rings.begin();
    run.cards = cards;
    run.ring_of_cards = static_cast<int>(index);
    run.by_events = cards->by_events;
    run.has_halves = false;
    run.up.clear();
    run.down.clear();
    cards->rings[static_cast<std::size_t>(index)] = &run;
    cards->begun |= ring_bit(run.ring_of_cards);
    return true;
}

// Returns the oldest cards that lack this ring, or new ones; null if it shares none.
AheadCards* Ahead::cards_for(const AheadRun& run, const PlacesOfHosts& hosts) {
    const std::size_t ring = hosts.first % hosts.stride;
    const std::size_t first = hosts.first - ring;
    const std::size_t all = run.count() * hosts.stride;
    if (first + all > hosts.hosts.size()) return nullptr;
    const int first_host = hosts.offset + hosts.hosts[first];
    for (const std::unique_ptr<AheadCards>& cards : cards_) {
        const auto at = std::ranges::find(cards->shares.rings, static_cast<int>(ring));
        const int index = static_cast<int>(at - cards->shares.rings.begin());
        if (cards->stream == run.stream && cards->first_host == first_host &&
            cards->members == run.rounds.members && cards->rounds == run.rounds.count &&
            at != cards->shares.rings.end() && (cards->begun & ring_bit(index)) == 0)
            return cards.get();
    }
    std::vector<int> abreast(hosts.hosts.begin() + static_cast<std::ptrdiff_t>(first),
                             hosts.hosts.begin() + static_cast<std::ptrdiff_t>(first + all));
    for (int& host : abreast) host += hosts.offset;
    LinkOwners::Cards shares = owners_.claim_cards(
        abreast, static_cast<int>(hosts.stride), static_cast<int>(ring), network_.find_route(),
        [this](LinkId link) { return network_.is_unlimited(link); });
    if (shares.rings.empty()) return nullptr;
    of_card_.resize(of_host_.size());
    AheadCards& cards = *cards_.emplace_back(std::make_unique<AheadCards>(*this));
    cards.stream = run.stream;
    cards.first_host = first_host;
    cards.members = run.rounds.members;
    cards.rounds = run.rounds.count;
    cards.rings.assign(shares.rings.size(), nullptr);
    for (auto at = static_cast<std::size_t>(shares.rings.front()); at < all; at += hosts.stride)
        cards.cards.push_back(owners_.card_at(abreast[at]));
    cards.inside.assign(run.count(), 0);
    cards.alone.assign(run.count(), {});
    cards.nobody.assign(run.count(), never);
    cards.shares = std::move(shares);
    return &cards;
}

AheadCards*& Ahead::of_card(int card) {
    return of_card_[static_cast<std::size_t>(card - network_.hosts())];
}

// Returns whether nothing else uses the links of the member, and of its card.
bool Ahead::can_run_beside(const AheadRun& run, int place) {
    const int host = run.host(place);
    const int card = run.cards->cards[AheadRun::at(place)];
    if (!can_run(host)) return false;
    const AheadCards* const used_by = of_card(card);
    return used_by == run.cards ||
           (used_by == nullptr && network_.is_idle(host, owners_.links_of(card)));
}

void Ahead::use_card(AheadCards& cards, int place) {
    of_card(cards.cards[AheadRun::at(place)]) = &cards;
    ++cards.inside[AheadRun::at(place)];
}

// Returns whether the messages on a hop have one capacity by themselves, as far as members are
// here.
bool Ahead::have_one_rate(const AheadRun& run, int place) {
    if (!run.is_here(place) || !run.is_here(run.next(place))) return true;
    const Wire wire = this->wire(run, place, run.next(place));
    Bandwidth& alone = run.cards->alone[AheadRun::at(place)];
    if (alone == Bandwidth{}) alone = wire.slowest;
    return wire.slowest == alone;
}

// Works out all rings once all their members have entered. Returns false if they cannot run ahead.
bool Ahead::follow_cards(AheadRun& run, int place) {
    AheadCards& cards = *run.cards;
    if (!have_one_rate(run, place) || !have_one_rate(run, run.before(place))) return false;
    if (run.entered < run.rounds.members) return true;
    if (++cards.complete == cards.rings.size()) {
        simulation_.cancel(cards.deadline);
        return run_cards(cards);
    }
    if (cards.complete > 1) return true;
    const Bytes shorter{run.rounds.chunks.vector.count / run.rounds.members};
    cards.deadline =
        simulation_.at(later(simulation_.now(), shorter / std::ranges::max(cards.alone)),
                       action<&AheadCards::due>(cards, 0), run.kind);
    return true;
}

void Ahead::cards_are_due(AheadCards& cards) {
    const auto ring = std::ranges::find_if(cards.rings, [](const AheadRun* run) { return run; });
    PACELINE_CHECK(ring != cards.rings.end(), "one of them is under way");
    hand_over(**ring);
}

// --- times ---

namespace {

constexpr int instants_between_looks = 1 << 20;

}  // namespace

bool Ahead::run_cards(AheadCards& cards) {
    begin_times(cards);
    for (AheadRun* const run : cards.rings)
        if (!run->ring.begin(run->rounds, run->ring_wires, run->entries)) return false;
    while (cards.times.run_before(never, instants_between_looks))
        if (simulation_.is_to_stop()) return false;
    if (!cards.times.have_ended()) return false;
    for (AheadRun* const run : cards.rings)
        for (int place = 0; place < run->rounds.members; ++place)
            schedule_end(*run, place, cards.times.end(run->ring_of_cards, place),
                         cards.times.ends_by(run->ring_of_cards, place));
    return true;
}

Bandwidth Ahead::shared_capacity(const AheadCards& cards, std::size_t place) const {
    const LinkOwners::Links& links = cards.shares.shared[place];
    return network_.half_wire({links.data(), links.size()}).slowest;
}

void Ahead::begin_times(AheadCards& cards) {
    const auto begun = std::ranges::find_if(cards.rings, [](const AheadRun* run) { return run; });
    std::vector<CardTimes::Ring> rings;
    for (AheadRun* const run : cards.rings) {
        if (run != nullptr) find_ring_wires(*run);
        const AheadRun& like = run != nullptr ? *run : **begun;
        rings.push_back(
            {like.rounds, like.ring_wires, run != nullptr ? run->entries : cards.nobody});
    }
    std::vector<Bandwidth> shared;
    for (std::size_t place = 0; place < cards.shares.shared.size(); ++place)
        shared.push_back(shared_capacity(cards, place));
    cards.times.begin(rings, cards.alone, shared);
}

// --- what ends them ---

void Ahead::leave_card(AheadCards& cards, int place) {
    if (--cards.inside[AheadRun::at(place)] > 0) return;
    of_card(cards.cards[AheadRun::at(place)]) = nullptr;
    if (std::ranges::any_of(cards.inside, [](int inside) { return inside > 0; })) return;
    finished_ += cards.rings.size();
    for (AheadRun* const run : std::vector<AheadRun*>(cards.rings)) retire(*run);
}

void Ahead::hand_over_cards(AheadCards& cards) {
    cards.by_events = true;
    simulation_.cancel(cards.deadline);
    begin_times(cards);
    while (cards.times.run_before(simulation_.now(), std::numeric_limits<int>::max())) {
    }
    const std::vector<AheadRun*> rings = cards.rings;
    for (AheadRun* const run : rings)
        if (run != nullptr) stand(*run);
    for (AheadCards*& used : of_card_)
        if (used == &cards) used = nullptr;
    for (AheadRun* const run : rings)
        if (run != nullptr && run->cards == &cards && !run->by_events) hand_on(*run);
}

// Notes what the members of a ring are at.
void Ahead::stand(AheadRun& run) {
    static_cast<void>(run.ring.begin(run.rounds, run.ring_wires, run.entries));  // for its chunks
    run.times.begin(run.rounds, [this, &run](int from, int to) { return wire(run, from, to); });
    run.times.until([this, &run](Time at, EventRank rank, int place) {
        return has_happened(run, at, rank, place);
    });
    for (int place = 0; place < run.rounds.members; ++place) {
        if (!run.is_here(place)) continue;
        const CardTimes::Standing at =
            run.cards->times.standing(run.ring_of_cards, place, simulation_.now());
        OpenRound open{.role = {}, .begin = at.begin, .sent = at.sent, .received = at.received};
        if (at.round < run.rounds.count) {
            open.sent.size = sent_in_round(run.rounds, place, at.round);
            open.received.size = sent_in_round(run.rounds, run.before(place), at.round);
        }
        open.sent.apart = run.ring_wires[AheadRun::at(place)].apart;
        open.received.apart = run.ring_wires[AheadRun::at(run.before(place))].apart;
        run.times.stand(place, at.round, open, ring_traffic(run, place, at.round, at.round));
    }
}

// A ring is over, as far as its cards are concerned.
void Ahead::forget_ring(const AheadRun& run) {
    AheadCards& cards = *run.cards;
    cards.rings[static_cast<std::size_t>(run.ring_of_cards)] = nullptr;
    if (++cards.over == cards.rings.size()) drop_cards(cards);
}

void Ahead::drop_cards(const AheadCards& cards) {
    simulation_.cancel(cards.deadline);
    std::erase_if(cards_, [&cards](const auto& one) { return one.get() == &cards; });
}

}  // namespace paceline
