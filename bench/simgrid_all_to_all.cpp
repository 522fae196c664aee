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
// bench/simgrid.hpp has the settings and their limits.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/all_to_all.hpp"
#include "bench/simgrid.hpp"

namespace {

namespace s4u = simgrid::s4u;

std::vector<std::vector<int>> all_others(int hosts) {
    std::vector<std::vector<int>> others(static_cast<std::size_t>(hosts));
    for (int from = 0; from < hosts; ++from)
        for (int to = 0; to < hosts; ++to)
            if (from != to) others[static_cast<std::size_t>(from)].push_back(to);
    return others;
}

class AllToAll {
  public:
    explicit AllToAll(const paceline::AllToAllJob& job)
        : hosts_(static_cast<std::size_t>(job.hosts)),
          block_(static_cast<std::uint64_t>(job.block.count)) {
        const std::vector<s4u::Host*> hosts =
            build_simgrid(make_fabric(job), all_others(job.hosts));
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
    paceline::be_quiet();
    s4u::Engine engine(&argc, argv);  // takes SimGrid's own options out of argv
    const std::optional<paceline::AllToAllJob> job = paceline::parse_all_to_all(argc, argv);
    if (!job) return EXIT_FAILURE;
    paceline::apply_simgrid_settings();
    AllToAll all_to_all(*job);
    engine.run();
    std::printf("hosts=%d simulated_s=%.9f messages=%zu\n", job->hosts, s4u::Engine::get_clock(),
                all_to_all.messages());
    return EXIT_SUCCESS;
}
