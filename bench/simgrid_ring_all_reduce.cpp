// The SimGrid side of the ring all-reduce benchmark: the same collective on SimGrid 3.32 (S4U).
//
//     simgrid_ring_all_reduce NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK
//
// NODES hosts hang on one switch, each by a split-duplex link with the given bandwidth and latency
// in each direction, so a message crosses the sender's up link and the receiver's down link and
// pays the latency twice. One actor per host runs the ring all-reduce message by message: in each
// of 2 (NODES - 1) steps it sends one chunk of floor or ceil(BYTES / NODES) bytes to the next rank
// and receives one from the previous rank, and the step ends when both are done.
//
// The model compared is CM02 (fluid max-min sharing) without cross-traffic, because it is exactly
// the alpha-beta model: latency + bytes / bandwidth for each message. SimGrid's default, LV08,
// charges 13.01 latencies to every message and grants only 0.97 of the bandwidth, and cross-traffic
// puts 5 % of each flow on the reverse route. With those, the two simulators would run different
// jobs and their costs could not be compared. The TCP window bound is set out of reach for the same
// reason. The other settings only keep SimGrid cheap: raw contexts, small stacks, one thread, lazy
// updates.
//
// When NODES does not divide BYTES, chunks differ by one byte, and the steps of different ranks end
// at slightly different times. The simulated time is that of the longer chunks (unless one byte
// takes less than SimGrid's time precision, 1 ns: then the steps end together).
//
// Build: clang++-19 -std=c++20 -O3 -march=native simgrid_ring_all_reduce.cpp -lsimgrid

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <simgrid/s4u.hpp>
#include <xbt/log.h>

namespace {

namespace s4u = simgrid::s4u;

// Set one by one after the engine exists and before the platform is built.
constexpr auto settings = std::to_array<const char*>({
    "network/model:CM02",
    "network/crosstraffic:0",      // no acknowledgements on the reverse route
    "network/latency-factor:1",    // CM02's own value
    "network/bandwidth-factor:1",  // CM02's own value
    "network/weight-S:0",          // CM02's own value
    "network/TCP-gamma:1e30",      // bytes; a flow's rate is at most this / (2 latency)
    "network/optim:Lazy",          // Full takes ten times as long
    "contexts/factory:raw",        // the fastest one
    "contexts/nthreads:1",         // no parallel actors: they do nothing but communicate
    "contexts/stack-size:64",      // KiB, of which only the touched pages count
    "contexts/guard-size:1",       // pages; with 0 SimGrid touches whole stacks: twice the memory
});

struct Job {
    std::uint64_t nodes;
    std::uint64_t bytes;
    double bytes_per_second;
    double latency_seconds;
};

// Parses the whole text as a number, or returns nothing.
template <typename Number>
std::optional<Number> parse(std::string_view text) {
    Number value{};
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [rest, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || rest != end) {
        return std::nullopt;
    }
    return value;
}

// BYTES may be in scientific notation (97e6) if it is a whole number that a double holds exactly.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    if (const auto whole = parse<std::uint64_t>(text)) {
        return whole;
    }
    const auto value = parse<double>(text);
    if (!value || !(*value >= 0.0) || *value > 0x1p53 || *value != std::floor(*value)) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(*value);
}

std::optional<Job> parse_job(int count, char** arguments) {
    if (count != 5) {
        return std::nullopt;
    }
    const auto nodes = parse<std::uint64_t>(arguments[1]);
    const auto bytes = parse_bytes(arguments[2]);
    const auto bits_per_second = parse<double>(arguments[3]);
    const auto latency = parse<double>(arguments[4]);
    if (!nodes || *nodes < 2 || !bytes || !bits_per_second || !latency) {
        return std::nullopt;
    }
    if (!std::isfinite(*bits_per_second) || *bits_per_second <= 0.0 || !std::isfinite(*latency) ||
        *latency < 0.0) {
        return std::nullopt;
    }
    return Job{*nodes, *bytes, *bits_per_second / 8.0, *latency};
}

// A star zone keeps one up and one down list of links for each host, so routes take O(NODES).
std::vector<s4u::Host*> build_star(const Job& job) {
    s4u::NetZone* const zone = s4u::create_star_zone("star");
    std::vector<s4u::Host*> hosts;
    hosts.reserve(job.nodes);
    for (std::uint64_t rank = 0; rank < job.nodes; ++rank) {
        const std::string name = std::to_string(rank);
        s4u::Host* const host = zone->create_host("host_" + name, 1e9);
        s4u::SplitDuplexLink* const link =
            zone->create_split_duplex_link("link_" + name, job.bytes_per_second);
        link->set_latency(job.latency_seconds);
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {s4u::LinkInRoute(link, s4u::LinkInRoute::Direction::UP)}, true);
        host->seal();
        hosts.push_back(host);
    }
    zone->seal();
    return hosts;
}

class Ring {
  public:
    explicit Ring(const Job& job)
        : nodes_(job.nodes), floor_bytes_(job.bytes / job.nodes), longer_(job.bytes % job.nodes) {
        const std::vector<s4u::Host*> hosts = build_star(job);
        inboxes_.reserve(nodes_);
        for (std::uint64_t rank = 0; rank < nodes_; ++rank) {
            inboxes_.push_back(s4u::Mailbox::by_name("rank_" + std::to_string(rank)));
        }
        for (std::uint64_t rank = 0; rank < nodes_; ++rank) {
            s4u::Actor::create("rank_" + std::to_string(rank), hosts[rank],
                               [this, rank] { run_rank(rank); });
        }
    }

    // Messages received so far by all ranks.
    std::uint64_t messages() const { return messages_; }

  private:
    // The first BYTES mod NODES chunks are one byte longer than the others.
    std::uint64_t chunk_bytes(std::uint64_t chunk) const {
        return floor_bytes_ + (chunk < longer_ ? 1 : 0);
    }

    void run_rank(std::uint64_t rank) {
        s4u::Mailbox* const inbox = inboxes_[rank];
        s4u::Mailbox* const outbox = inboxes_[rank + 1 == nodes_ ? 0 : rank + 1];
        // Reduce-scatter starts with the rank's own chunk and always continues with the chunk that
        // has just arrived; all-gather continues that sequence, so one formula serves both.
        std::uint64_t chunk = rank;
        for (std::uint64_t step = 0; step < 2 * (nodes_ - 1); ++step) {
            const s4u::CommPtr sending = outbox->put_async(&payload_, chunk_bytes(chunk));
            inbox->get<char>();
            ++messages_;
            sending->wait();
            chunk = chunk == 0 ? nodes_ - 1 : chunk - 1;
        }
    }

    std::uint64_t nodes_;
    std::uint64_t floor_bytes_;
    std::uint64_t longer_;
    std::uint64_t messages_ = 0;  // the actors share one thread
    char payload_ = 0;            // nothing is copied, but SimGrid requires an address
    std::vector<s4u::Mailbox*> inboxes_;
};

}  // namespace

int main(int argc, char** argv) {
    xbt_log_control_set("xbt_cfg.thres:warning");  // no log line for each setting below
    s4u::Engine engine(&argc, argv);               // takes SimGrid's own options out of argv
    const std::optional<Job> job = parse_job(argc, argv);
    if (!job) {
        std::fprintf(stderr,
                     "usage: %s NODES BYTES BITS_PER_SECOND LATENCY_SECONDS_PER_LINK\n"
                     "       at least 2 nodes; for example 64 97e6 1e9 50e-6\n",
                     argv[0]);
        return EXIT_FAILURE;
    }
    for (const char* const setting : settings) {
        s4u::Engine::set_config(setting);
    }
    Ring ring(*job);
    engine.run();
    std::printf("nodes=%llu simulated_s=%.9f messages=%llu\n",
                static_cast<unsigned long long>(job->nodes), s4u::Engine::get_clock(),
                static_cast<unsigned long long>(ring.messages()));
    return EXIT_SUCCESS;
}
