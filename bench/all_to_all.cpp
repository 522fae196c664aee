// Our side of the all-to-all benchmark: only the timing plane, message by message, on a fat tree.
//
// Usage: all_to_all HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS rounds|flood|nothing. Prints the
// simulated time. tools/bench.sh measures time and memory from outside, and runs simgrid_all_to_all
// with the same arguments. bench/all_to_all.hpp describes the job.
#include "bench/all_to_all.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "sim/collectives/all_to_all.hpp"
#include "sim/engine/processes.hpp"

using namespace paceline;

namespace {

// Awaits a join that has already been handed out.
class Until {
  public:
    explicit Until(Join& join) : join_(join) {}

    [[nodiscard]] bool await_ready() const noexcept { return join_.complete(); }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& waiter = handle.promise();
        waiter.waits_for({"its part of the flood"});
        join_.wake(waiter);
    }
    static void await_resume() noexcept {}

  private:
    Join& join_;
};

// A host's part of the flood: sends all of its blocks at once, then receives the others' blocks.
Task<> flood(Network& network, int host, Bytes block) {
    const int hosts = network.hosts();
    const auto others = static_cast<std::uint32_t>(hosts - 1);
    Join through(2 * others);  // everything drained and delivered
    for (int round = 1; round < hosts; ++round) {
        network.send(host, (host + round) % hosts, 1, block, Protocol::eager, through);
        network.receive(host, (host + hosts - round) % hosts, 1, through);
    }
    co_await Until(through);
}

Task<> nothing() {
    co_return;
}

Task<> work(Network& network, const GroupPtr& group, int host, const AllToAllJob& job) {
    switch (job.mode) {
        case AllToAllMode::rounds:
            return all_to_all(AllToAll::rounds, Rank(network, group, host, 1), job.block);
        case AllToAllMode::flood:
            return flood(network, host, job.block);
        case AllToAllMode::nothing:
            break;
    }
    return nothing();
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<AllToAllJob> job = parse_all_to_all(argc, argv);
    if (!job) return 2;

    Simulation simulation;
    Network network(simulation, make_fabric(*job));
    const auto group = whole_group(job->hosts);
    Processes processes(simulation);
    for (int host = 0; host < job->hosts; ++host)
        processes.spawn(fmt::format("node {}", host), work(network, group, host, *job));
    simulation.run();
    fmt::print("hosts={} simulated_s={:.9f} messages={} finished={}\n", job->hosts,
               to_seconds(simulation.now().time_since_epoch()), network.messages_delivered(),
               processes.finished());
    return processes.finished() ? 0 : 1;
}
