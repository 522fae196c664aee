#include "sim/ahead/link_owners.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace paceline {

namespace {

constexpr std::size_t most_groups = 64;  // that are remembered
constexpr int several = -2;

std::size_t first_half(const Route& route) {
    return (route.size() + 1) / 2;
}

// The one host, or place, as long as it is one.
void join(int& one, int host) {
    one = one == LinkOwners::nobody || one == host ? host : several;
}

}  // namespace

LinkOwners::Routes LinkOwners::claim(const MessageRounds& rounds, const std::vector<int>& members,
                                     const FindRoute& route, const IsUnlimited& is_unlimited) {
    const auto found = std::ranges::find_if(known_, [&](const Known& known) {
        return known.partners == rounds.partners && known.members == members;
    });
    if (found != known_.end()) return found->routes;
    if (known_.size() == most_groups) known_.clear();
    owners_.resize(links_, nobody);
    of_host_.resize(std::max(of_host_.size(), hosts_of(hosts_)));
    const Routes routes = claim_all(rounds, members, route, is_unlimited);
    known_.push_back({rounds.partners, members, routes});
    return routes;
}

LinkOwners::Routes LinkOwners::claim_all(const MessageRounds& rounds,
                                         const std::vector<int>& members, const FindRoute& route,
                                         const IsUnlimited& is_unlimited) {
    Routes routes{.have_owners = true, .have_halves = true};
    std::vector<Claim> claims(owners_.size());
    std::vector<LinkId> claimed;
    const bool always_the_same =
        rounds.partners == Partners::ring || (rounds.in_flight > 1 && !rounds.grouped);
    Route links;
    for (int round = 0; round < (always_the_same ? 1 : rounds.count); ++round) {
        for (int place = 0; place < rounds.members; ++place) {
            const int partner = rounds.who(place, round).to;
            if (partner < 0) continue;
            const int from = members[hosts_of(place)];
            const int to = members[hosts_of(partner)];
            route(from, to, links);
            routes.have_halves = routes.have_halves && note_halves(from, to, links);
            for (std::size_t hop = 0; hop < links.size(); ++hop) {
                if (is_unlimited(links[hop])) continue;
                Claim& claim = claims[links[hop]];
                if (claim.sender == nobody) claimed.push_back(links[hop]);
                join(claim.sender, from);
                join(claim.receiver, to);
                claim.is_of_first_half = claim.is_of_first_half && hop < first_half(links);
            }
        }
    }
    routes.have_owners = std::ranges::all_of(
        claimed, [&](LinkId link) { return owner_for(link, claims[link]) != nobody; });
    if (!routes.have_owners) return routes;
    for (const LinkId link : claimed) own(link, claims[link]);
    return routes;
}

void LinkOwners::own(LinkId link, const Claim& claim) {
    const int owner = owner_for(link, claim);
    if (owners_[link] == owner) return;
    owners_[link] = owner;
    of_host_[hosts_of(owner)].owned.push_back(link);
}

LinkOwners::Cards LinkOwners::claim_cards(const std::vector<int>& hosts, int abreast, int ring,
                                          const FindRoute& route, const IsUnlimited& is_unlimited) {
    const auto found = std::ranges::find_if(known_cards_, [&](const KnownCards& known) {
        return known.abreast == abreast && known.ring == ring && known.hosts == hosts;
    });
    if (found != known_cards_.end()) return found->cards;
    if (known_cards_.size() == most_groups) known_cards_.clear();
    owners_.resize(links_, nobody);
    of_host_.resize(2 * hosts_of(hosts_));  // cards behind hosts
    Cards cards = claim_all_cards(hosts, abreast, ring, route, is_unlimited);
    known_cards_.push_back({hosts, abreast, ring, cards});
    return cards;
}

// Rings share links if those of one hop do. They are taken together only if the same ones do on
// every hop.
LinkOwners::Cards LinkOwners::claim_all_cards(const std::vector<int>& hosts, int abreast, int ring,
                                              const FindRoute& route,
                                              const IsUnlimited& is_unlimited) {
    const int places = static_cast<int>(hosts.size()) / abreast;
    const auto host = [&](int place, int of) {
        return hosts[hosts_of(place % places * abreast + of)];
    };
    std::map<LinkId, Use> uses;
    Route links;
    for (int place = 0; place < places; ++place) {
        for (int of = 0; of < abreast; ++of) {
            route(host(place, of), host(place + 1, of), links);
            for (std::size_t hop = 0; hop < links.size(); ++hop) {
                if (is_unlimited(links[hop])) continue;
                Use& use = uses[links[hop]];
                join(use.place, place);
                use.rings |= ring_bit(of);
                use.is_of_first_half = use.is_of_first_half && hop < first_half(links);
            }
        }
    }
    std::uint64_t together = 0;
    for (const auto& [link, use] : uses)
        if ((use.rings & ring_bit(ring)) != 0 && use.rings != ring_bit(ring)) together |= use.rings;
    if (together == 0) return {};
    Cards cards{.shared = std::vector<Links>(hosts_of(places))};
    for (int of = 0; of < abreast; ++of)
        if ((together & ring_bit(of)) != 0) cards.rings.push_back(of);
    const auto claim_of = [&](const Use& use) -> Claim {
        if (use.rings != together) {
            const int only = std::countr_zero(use.rings);
            return {host(use.place, only), host(use.place + 1, only), use.is_of_first_half};
        }
        const int first = cards.rings.front();
        return {card_at(host(use.place, first)), card_at(host(use.place + 1, first)),
                use.is_of_first_half};
    };
    for (const auto& [link, use] : uses) {
        if ((use.rings & together) == 0) continue;
        const bool is_shared = use.rings == together;
        if (use.place == several || (!is_shared && std::popcount(use.rings) != 1)) return {};
        if (owner_for(link, claim_of(use)) == nobody) return {};
        if (is_shared) cards.shared[hosts_of(use.place)].push_back(link);
    }
    if (std::ranges::any_of(cards.shared, &Links::empty)) return {};
    for (const auto& [link, use] : uses)
        if ((use.rings & together) != 0) own(link, claim_of(use));
    return cards;
}

// Returns whether the half of a host consists of these links. A half that is known may be empty: on
// a route of one hop the receiver has none.
bool LinkOwners::note_half(Half& known, std::span<const LinkId> links) {
    if (known.count == Half::not_known) {
        known = {static_cast<std::uint32_t>(half_links_.size()), static_cast<int>(links.size())};
        half_links_.insert(half_links_.end(), links.begin(), links.end());
    }
    return std::ranges::equal(half(known), links);
}

// Returns whether the route consists of the sender's half and the receiver's. The first route of a
// host says what its halves are, once and for all: collectives that rely on them are remembered.
bool LinkOwners::note_halves(int from, int to, const Route& route) {
    const std::span<const LinkId> all(route.data(), route.size());
    return note_half(of_host_[hosts_of(from)].up, all.first(first_half(route))) &&
           note_half(of_host_[hosts_of(to)].down, all.subspan(first_half(route)));
}

// The owner that a link has, or could get; nobody, if it can have none.
int LinkOwners::owner_for(LinkId link, const Claim& claim) const {
    const int has = owners_[link];
    if (has != nobody) return has == claim.sender || has == claim.receiver ? has : nobody;
    const int wanted = claim.is_of_first_half ? claim.sender : claim.receiver;
    const int other = claim.is_of_first_half ? claim.receiver : claim.sender;
    if (wanted >= 0) return wanted;
    return other >= 0 ? other : nobody;
}

}  // namespace paceline
