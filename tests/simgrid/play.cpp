#include "tests/simgrid/play.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "sim/engine/check.hpp"
#include "sim/engine/processes.hpp"
#include "sim/messages/transfer.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline {

std::string description(const Plan& plan) {
    std::string text = fmt::format("hosts {}\n", plan.fabric.hosts);
    for (const Link& link : plan.fabric.links)
        text += fmt::format("link {:.17g} {:.17g}\n",
                            static_cast<double>(link.capacity().bits_per_second) / 8,
                            to_seconds(link.latency));
    std::map<std::pair<int, int>, Route> routes;
    for (const PlannedMessage& message : plan.messages)
        plan.fabric.find_route(message.from, message.to, routes[{message.from, message.to}]);
    for (const auto& [pair, route] : routes)
        text += fmt::format("route {} {} {}\n", pair.first, pair.second, fmt::join(route, " "));
    for (const PlannedMessage& message : plan.messages) {
        text += fmt::format("message {:.17g} {} {} {}", to_seconds(message.start), message.from,
                            message.to, message.size.count);
        for (const std::size_t before : message.after) text += fmt::format(" {}", before);
        text += '\n';
    }
    return text;
}

std::vector<double> play_in_simgrid(const Plan& plan) {
    const TemporaryFolder folder;
    const std::string input = folder.write("description.txt", description(plan));
    const std::string output = (folder.path() / "delivered.txt").string();
    const std::string command =
        fmt::format("'{}' < '{}' > '{}'", PACELINE_SIMGRID_MESSAGES, input, output);
    if (std::system(command.c_str()) != 0) throw std::runtime_error("SimGrid failed: " + command);
    std::ifstream file(output);
    std::vector<double> times{std::istream_iterator<double>(file), {}};
    if (times.size() != plan.messages.size())
        throw std::runtime_error("SimGrid did not print a time for each message");
    return times;
}

namespace {

Task<> send_at(Network& network, PlannedMessage message, Stream stream) {
    co_await network.simulation().sleep(message.start);
    co_await Send(network, message.from, message.to, stream, message.size, Protocol::eager);
}

Task<> receive_at_once(Network& network, PlannedMessage message, Stream stream, double& delivered) {
    co_await Receive(network, message.to, message.from, stream);
    delivered = to_seconds(network.simulation().now().time_since_epoch());
}

}  // namespace

std::vector<double> play(const Plan& plan) {
    std::vector<double> delivered(plan.messages.size(), -1);
    Simulation simulation;
    Network network(simulation, plan.fabric);
    Processes processes(simulation);
    for (std::size_t number = 0; number < plan.messages.size(); ++number) {
        const PlannedMessage& message = plan.messages[number];
        PACELINE_CHECK(message.after.empty(), "an eager message does not wait for others");
        processes.spawn("sender", send_at(network, message, number));
        processes.spawn("receiver", receive_at_once(network, message, number, delivered[number]));
    }
    simulation.run();
    return delivered;
}

}  // namespace paceline
