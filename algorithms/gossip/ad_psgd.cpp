#include "algorithms/gossip/ad_psgd.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "algorithms/lives/lives.hpp"
#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/channel.hpp"

namespace paceline {

namespace {

enum Box : int { requests, answers };

struct StepBegun {};

// State that a node's training steps and its gossip share.
struct Node {
    Channel<StepBegun> begun{};
    std::int64_t averagings = 0;
};
using NodePtr = std::shared_ptr<Node>;

bool is_active(int rank) {
    return rank % 2 == 1;
}

Task<> answer_requests(Worker& self, NodePtr node) {
    for (;;) {
        const Letter request = co_await self.mail().next_letter(requests);
        const Vector mine = self.model();
        self.model() += 0.5 * (*request.vector - mine);
        ++node->averagings;
        co_await self.mail().post(request.from, answers, Letter{mine}, self.weigh(mine));
    }
}

Task<> gossip(Worker& self, NodePtr node) {
    const std::vector<int> partners = ad_psgd_partners(self.rank(), self.workers());
    for (std::size_t turn = 0;; turn = (turn + 1) % partners.size()) {
        co_await node->begun.get();
        if (!self.lives().present(partners[turn])) continue;
        const Vector sent = self.model();
        co_await self.mail().post(partners[turn], requests, Letter{sent}, self.weigh(sent));
        const auto answer = co_await self.mail().next_letter_from(partners[turn], answers);
        if (!answer) continue;
        self.model() += 0.5 * (*answer->vector - sent);
        ++node->averagings;
    }
}

}  // namespace

std::vector<int> ad_psgd_partners(int rank, int nodes) {
    if (!is_active(rank)) return {};
    std::vector<int> hops{1};
    const int log2 = static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1))) - 1;
    for (int h = 1; h <= log2; ++h) hops.push_back(1 + (1 << h));
    std::vector<int> partners;
    for (const int hop : hops)
        for (const int signed_hop : {hop, -hop}) {
            const int partner = ((rank + signed_hop) % nodes + nodes) % nodes;
            if (!is_active(partner) && std::ranges::find(partners, partner) == partners.end())
                partners.push_back(partner);
        }
    return partners;
}

Task<> ad_psgd(Worker& self, AdPsgdOptions options) {
    const auto node = std::make_shared<Node>();
    const bool active = is_active(self.rank());
    self.serve(active ? gossip(self, node) : answer_requests(self, node));
    Vector m = Vector::zero_like(self.model());

    while (self.begins_step()) {
        const double gamma = self.learning_rate();
        if (active && node->begun.size() == 0) node->begun.put({});
        const Vector z = self.model();
        const std::int64_t averagings = node->averagings;
        const Vector g = co_await self.gradient(z);
        self.metrics().count_staleness(static_cast<double>(node->averagings - averagings));
        self.model() += momentum_change(options.rule, gamma, g, m, z);
        co_await self.update();
    }
}

}  // namespace paceline
