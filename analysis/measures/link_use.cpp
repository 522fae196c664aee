#include "analysis/measures/link_use.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

LinkUse::State& LinkUse::state(LinkId link) {
    if (link >= links_.size()) links_.resize(link + 1);
    return links_[link];
}

void LinkUse::begins(std::uint32_t id, const Route& route, Time since, std::size_t owner) {
    if (id >= routes_.size()) {
        routes_.resize(id + 1);
        owners_.resize(id + 1);
    }
    routes_[id] = route;
    owners_[id] = owner;
    for (const LinkId link : route) {
        State& of = state(link);
        if (of.messages++ == 0) of.since = since;
    }
}

void LinkUse::drains(std::uint32_t id, Bytes moved, Time now) {
    PACELINE_CHECK(id < routes_.size(), "a message drains that has set out");
    for (const LinkId link : routes_[id]) {
        State& state = links_[link];
        if (--state.messages == 0) state.busy = sum(state.busy, now - state.since);
        state.bytes += moved;
        bytes_of_owner(owners_[id], link) += moved;
    }
    routes_[id].clear();
}

Bytes& LinkUse::bytes_of_owner(std::size_t owner, LinkId link) {
    if (owner >= of_owner_.size()) of_owner_.resize(owner + 1);
    std::vector<Bytes>& links = of_owner_[owner];
    if (link >= links.size()) links.resize(link + 1);
    return links[link];
}

void LinkUse::carries(const Route& route, Bytes moved, Duration busy) {
    for (const LinkId link : route) {
        State& of = state(link);
        of.busy = sum(of.busy, busy);
        of.bytes += moved;
    }
}

Duration LinkUse::busy(LinkId link, Time end) const {
    if (link >= links_.size()) return {};
    const State& state = links_[link];
    return state.messages == 0 ? state.busy : sum(state.busy, end - state.since);
}

Bytes LinkUse::bytes(LinkId link) const {
    return link < links_.size() ? links_[link].bytes : Bytes{};
}

Bytes LinkUse::bytes_of(std::size_t owner, LinkId link) const {
    if (owner >= of_owner_.size() || link >= of_owner_[owner].size()) return {};
    return of_owner_[owner][link];
}

}  // namespace paceline
