#include "analysis/traces/own_cables.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

namespace paceline {

namespace {

std::optional<OwnCable> own_cable_of(const TraceMachine& machine, int process,
                                     const std::vector<int>& hosts) {
    const bool has_bus = !machine.network->machines().one_each();
    if (has_bus && hosts.size() < 2)
        return std::nullopt;  // its lane cannot be told apart from its cable
    Route bus;
    if (has_bus) {
        bus = machine.network->route(hosts[0], hosts[1]);
        const Route back = machine.network->route(hosts[1], hosts[0]);
        bus.insert(bus.end(), back.begin(), back.end());
    }
    const auto outside = [&bus](LinkId link) { return std::ranges::find(bus, link) == bus.end(); };
    const int job = machine.processes[static_cast<std::size_t>(process)].job;
    constexpr int enough = 64;  // number of others whose routes are examined
    int asked = 0;
    std::optional<LinkId> up;
    std::optional<LinkId> down;
    for (int other = 0; std::cmp_less(other, machine.hosts.size()) && asked < enough; ++other) {
        const int there = machine.hosts[static_cast<std::size_t>(other)].process;
        if (there < 0 || there == process ||
            machine.processes[static_cast<std::size_t>(there)].job != job)
            continue;
        ++asked;
        const Route out = machine.network->route(hosts[0], other);
        const Route in = machine.network->route(other, hosts[0]);
        const auto first = std::ranges::find_if(out, outside);
        const auto from_the_end = std::views::reverse(in);
        const auto last = std::ranges::find_if(from_the_end, outside);
        if (first == out.end() || last == from_the_end.end()) return std::nullopt;
        if ((up && *up != *first) || (down && *down != *last)) return std::nullopt;
        up = *first;
        down = *last;
    }
    if (!up) return std::nullopt;
    return OwnCable{process, *up, *down};
}

}  // namespace

std::vector<OwnCable> own_cables_of(const TraceMachine& machine) {
    std::vector<OwnCable> cables;
    std::map<int, std::vector<int>> hosts_of;  // by process
    for (int number = 0; std::cmp_less(number, machine.hosts.size()); ++number)
        if (const int process = machine.hosts[static_cast<std::size_t>(number)].process;
            process >= 0)
            hosts_of[process].push_back(number);
    for (const auto& [process, hosts] : hosts_of)
        if (machine.processes[static_cast<std::size_t>(process)].chosen)
            if (const auto cable = own_cable_of(machine, process, hosts)) cables.push_back(*cable);
    return cables;
}

}  // namespace paceline
