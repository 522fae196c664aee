#include "analysis/link_use.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

void LinkUse::flow_begins(const Route& route, Time now) {
    for (const LinkId link : route) {
        if (link >= links_.size()) links_.resize(link + 1);
        State& state = links_[link];
        if (state.flows++ == 0) state.since = now;
    }
}

void LinkUse::flow_ends(const Route& route, Bytes moved, Time now) {
    for (const LinkId link : route) {
        State& state = links_.at(link);
        PACELINE_CHECK(state.flows > 0, "a message leaves the links that it has entered");
        if (--state.flows == 0) state.busy = sum(state.busy, now - state.since);
        state.bytes += moved;
    }
}

Duration LinkUse::busy(LinkId link, Time end) const {
    if (link >= links_.size()) return {};
    const State& state = links_[link];
    return state.flows == 0 ? state.busy : sum(state.busy, end - state.since);
}

Bytes LinkUse::bytes(LinkId link) const {
    return link < links_.size() ? links_[link].bytes : Bytes{};
}

}  // namespace paceline
