// The SimGrid side of the all-to-all benchmark: the same job on SimGrid 3.32 (S4U).
//
//     simgrid_all_to_all HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS rounds|flood|nothing
//
// The network is that of bench/all_to_all.hpp, link by link, and every pair uses the route that our
// fabric gives it: a SimGrid fat tree would draw other routes and so run a different job. SimGrid
// by itself would need neither this table of HOSTS^2 routes nor a mailbox for each pair; `nothing`
// measures the cost of building them, and tools/bench.sh subtracts it.
//
// One actor per host. In `rounds` it puts a block for one partner, gets one from the other and
// waits for both; in `flood` it puts all blocks and gets all blocks at once.
//
// The settings are those of simgrid_ring_all_reduce.cpp, for the same reasons: CM02 without
// cross-traffic is fluid max-min sharing and nothing else. Two differences remain: a message flows
// only after its latency (ours flows at once), and its sender is free one latency later. Equal
// latencies keep SimGrid's shares even (it weighs a flow by 1 / latency). With latency 0 the two
// simulated times agree.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

#include "bench/all_to_all.hpp"

namespace {

namespace s4u = simgrid::s4u;

constexpr auto settings = std::to_array<const char*>({
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "network/weight-S:0",
    "network/TCP-gamma:1e30",
    "network/optim:Lazy",
    "contexts/factory:raw",
    "contexts/nthreads:1",
    "contexts/stack-size:64",
    "contexts/guard-size:1",
});

std::vector<s4u::Host*> build(const paceline::Fabric& fabric) {
    s4u::NetZone* const zone = s4u::create_full_zone("fabric");
    std::vector<s4u::Link*> links;
    for (const paceline::Link& link : fabric.links) {
        const double bytes_per_second = static_cast<double>(link.capacity().bits_per_second) / 8;
        links.push_back(
            zone->create_link("link_" + std::to_string(links.size()), bytes_per_second));
        links.back()->set_latency(paceline::to_seconds(link.latency))->seal();
    }
    std::vector<s4u::Host*> hosts;
    for (int host = 0; host < fabric.hosts; ++host) {
        hosts.push_back(zone->create_host("host_" + std::to_string(host), 1e9));
        hosts.back()->seal();
    }
    paceline::Route route;
    for (int from = 0; from < fabric.hosts; ++from)
        for (int to = 0; to < fabric.hosts; ++to) {
            if (from == to) continue;
            fabric.find_route(from, to, route);
            std::vector<s4u::LinkInRoute> way;
            for (const paceline::LinkId link : route) way.emplace_back(links[link]);
            zone->add_route(hosts[static_cast<std::size_t>(from)]->get_netpoint(),
                            hosts[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr,
                            way, false);
        }
    zone->seal();
    return hosts;
}

class AllToAll {
  public:
    explicit AllToAll(const paceline::AllToAllJob& job)
        : hosts_(static_cast<std::size_t>(job.hosts)),
          block_(static_cast<std::uint64_t>(job.block.count)) {
        const std::vector<s4u::Host*> hosts = build(make_fabric(job));
        for (std::size_t to = 0; to < hosts_; ++to)
            for (std::size_t from = 0; from < hosts_; ++from)
                mailboxes_.push_back(
                    s4u::Mailbox::by_name(std::to_string(to) + "<" + std::to_string(from)));
        for (std::size_t rank = 0; rank < hosts_; ++rank)
            s4u::Actor::create("rank_" + std::to_string(rank), hosts[rank],
                               [this, rank, mode = job.mode] { run_rank(rank, mode); });
    }

    [[nodiscard]] std::size_t messages() const { return messages_; }

  private:
    // Each pair has its own mailbox, because a partner may be in a later round already.
    s4u::Mailbox* mailbox(std::size_t to, std::size_t from) const {
        return mailboxes_[to * hosts_ + from];
    }

    void run_rank(std::size_t rank, paceline::AllToAllMode mode) {
        if (mode == paceline::AllToAllMode::rounds) run_rounds(rank);
        if (mode == paceline::AllToAllMode::flood) run_flood(rank);
    }

    void run_rounds(std::size_t rank) {
        for (std::size_t round = 1; round < hosts_; ++round) {
            const std::size_t to = (rank + round) % hosts_;
            const std::size_t from = (rank + hosts_ - round) % hosts_;
            const s4u::CommPtr sending = mailbox(to, rank)->put_async(&payload_, block_);
            mailbox(rank, from)->get<char>();
            ++messages_;
            sending->wait();
        }
    }

    void run_flood(std::size_t rank) {
        std::vector<s4u::CommPtr> all;
        std::vector<char*> taken(hosts_);
        for (std::size_t round = 1; round < hosts_; ++round) {
            const std::size_t to = (rank + round) % hosts_;
            const std::size_t from = (rank + hosts_ - round) % hosts_;
            all.push_back(mailbox(to, rank)->put_async(&payload_, block_));
            all.push_back(mailbox(rank, from)->get_async<char>(&taken[round]));
        }
        for (const s4u::CommPtr& one : all) one->wait();
        messages_ += hosts_ - 1;
    }

    std::size_t hosts_;
    std::uint64_t block_;
    std::size_t messages_ = 0;  // received by all ranks; the actors share one thread
    char payload_ = 0;          // nothing is copied, but SimGrid requires an address
    std::vector<s4u::Mailbox*> mailboxes_;
};

}  // namespace

int main(int argc, char** argv) {
    xbt_log_control_set("xbt_cfg.thres:warning");  // no log line for each setting below
    s4u::Engine engine(&argc, argv);               // takes SimGrid's own options out of argv
    const std::optional<paceline::AllToAllJob> job = paceline::parse_all_to_all(argc, argv);
    if (!job) return EXIT_FAILURE;
    for (const char* const setting : settings) s4u::Engine::set_config(setting);
    AllToAll all_to_all(*job);
    engine.run();
    std::printf("hosts=%d simulated_s=%.9f messages=%zu\n", job->hosts, s4u::Engine::get_clock(),
                all_to_all.messages());
    return EXIT_SUCCESS;
}
