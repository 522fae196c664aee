// The SimGrid side of the neighbor-exchange benchmark: the same job on SimGrid 3.32 (S4U).
//
//     simgrid_neighbor_exchange HOSTS BYTES BITS_PER_SECOND LATENCY_SECONDS star|fat-tree
//                               ring|torus|exponential STEPS
//
// The network is that of bench/neighbor_exchange.hpp, link by link, and every pair of neighbors
// uses the route that our fabric gives it. bench/simgrid.hpp has the settings and their limits. One
// actor per host and one mailbox per pair of neighbors. In each step an actor puts and gets all of
// its blocks at once and waits for all of them.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/neighbor_exchange.hpp"
#include "bench/simgrid.hpp"

namespace {

namespace s4u = simgrid::s4u;
using Mailboxes = std::vector<s4u::Mailbox*>;

class NeighborExchange {
  public:
    explicit NeighborExchange(const paceline::NeighborJob& job)
        : steps_(job.steps), block_(static_cast<std::uint64_t>(job.block.count)) {
        const std::vector<s4u::Host*> hosts = build_simgrid(job.fabric, job.to);
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
            const std::string self = std::to_string(rank);
            Mailboxes out;
            Mailboxes in;
            for (const int to : job.to[rank])
                out.push_back(s4u::Mailbox::by_name(std::to_string(to) + "<" + self));
            for (const int from : job.from[rank])
                in.push_back(s4u::Mailbox::by_name(self + "<" + std::to_string(from)));
            s4u::Actor::create("rank_" + self, hosts[rank], [this, out, in] { run_rank(out, in); });
        }
    }

    [[nodiscard]] std::size_t messages() const { return messages_; }

  private:
    void run_rank(const Mailboxes& out, const Mailboxes& in) {
        std::vector<s4u::CommPtr> all;
        std::vector<char*> taken(in.size());
        for (int step = 0; step < steps_; ++step) {
            all.clear();
            for (s4u::Mailbox* const mailbox : out)
                all.push_back(mailbox->put_async(&payload_, block_));
            for (std::size_t i = 0; i < in.size(); ++i)
                all.push_back(in[i]->get_async<char>(&taken[i]));
            for (const s4u::CommPtr& one : all) one->wait();
            messages_ += in.size();
        }
    }

    int steps_;
    std::uint64_t block_;
    std::size_t messages_ = 0;  // received by all ranks; the actors share one thread
    char payload_ = 0;          // nothing is copied, but SimGrid requires an address
};

}  // namespace

int main(int argc, char** argv) {
    paceline::be_quiet();
    s4u::Engine engine(&argc, argv);  // takes SimGrid's own options out of argv
    const std::optional<paceline::NeighborJob> job = paceline::parse_neighbor_job(argc, argv);
    if (!job) return EXIT_FAILURE;
    paceline::apply_simgrid_settings();
    const NeighborExchange exchange(*job);
    engine.run();
    std::printf("hosts=%d simulated_s=%.9f messages=%zu\n", job->hosts, s4u::Engine::get_clock(),
                exchange.messages());
    return EXIT_SUCCESS;
}
