// A network with transfers on it, for tests: records when each drains and arrives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "sim/engine/processes.hpp"
#include "sim/engine/simulation.hpp"
#include "sim/engine/task.hpp"
#include "sim/messages/transfer.hpp"
#include "sim/network/network.hpp"

namespace paceline {

struct Transfer {
    char name;
    int from;
    int to;
    Bytes size;
    Duration at{};
    Stream stream = 1;
};

struct TransferRun {
    Simulation simulation;
    Network network;
    std::map<char, Duration> drained;
    std::map<char, Duration> delivered;
    Processes processes{simulation};

    explicit TransferRun(Fabric fabric, std::uint64_t seed = 1)
        : network(simulation, std::move(fabric), {}, RandomStreams(seed)) {}

    [[nodiscard]] Duration now() const { return simulation.now().time_since_epoch(); }

    void transfer(const Transfer& transfer) {
        processes.spawn(std::string("sender of ") + transfer.name, send(*this, transfer));
        processes.spawn(std::string("receiver of ") + transfer.name, receive(*this, transfer));
    }

  private:
    static Task<> send(TransferRun& run, Transfer transfer) {
        co_await run.simulation.sleep(transfer.at);
        co_await Send(run.network, transfer.from, transfer.to, transfer.stream, transfer.size,
                      Protocol::eager);
        run.drained[transfer.name] = run.now();
    }
    static Task<> receive(TransferRun& run, Transfer transfer) {
        co_await Receive(run.network, transfer.to, transfer.from, transfer.stream);
        run.delivered[transfer.name] = run.now();
    }
};

}  // namespace paceline
