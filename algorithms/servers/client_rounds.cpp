#include "algorithms/servers/client_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/compression/error_feedback.hpp"
#include "algorithms/lives/lives.hpp"
#include "algorithms/local/inner_steps.hpp"
#include "algorithms/optimizers/momentum.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/engine/signal.hpp"

namespace paceline {

namespace {

constexpr int inbox_of_rounds =
    0;  // the server's for what is handed in, a worker's for models to train

std::int64_t round_of(std::int64_t step, const RoundOptions& options) {
    return step / options.local_steps;
}

// Returns the workers asked in a round, in the order in which they are asked. Every caller draws
// the same ones.
std::vector<int> draw(const Worker& self, const RoundOptions& options, std::int64_t round) {
    const std::vector<int> there = self.all_present();
    const int most = static_cast<int>(there.size());
    RandomStream rng = self.common_stream("clients of a round", round);
    std::vector<int> drawn;
    if (most == 0) return drawn;
    for (const int i :
         draw_clients(rng, most, std::min(clients_asked(options, self.workers()), most)))
        drawn.push_back(there[static_cast<std::size_t>(i)]);
    return drawn;
}

// --- sending ---

Task<> post_and_tell(Worker& self, int to, Letter letter, Bytes weight,
                     std::shared_ptr<Signal> left) {
    co_await self.mail().post(to, inbox_of_rounds, std::move(letter), weight);
    left->fire();
}

// --- a client ---

// Skips the remaining steps of the round, counting them.
void pass_steps(Worker& self, const RoundOptions& options) {
    while (round_goes_on(self, options)) {
    }
}

// --- the server ---

Task<> all_of(std::vector<Task<>> tasks) {
    co_await when_all(std::move(tasks));
}

struct Asked {
    int rank;
    int life;
};

// Returns whether a worker that was asked may still answer.
bool may_come(const Worker& self, const Asked& asked) {
    return self.lives().present(asked.rank) && self.lives().life(asked.rank) == asked.life;
}

Task<> until(Worker& self, Time time) {
    co_await self.simulation().sleep(time - self.simulation().now());
}

// Returns the next letter, or nothing if the deadline passes or a worker joins or leaves.
Task<std::optional<Letter>> next_before(Worker& self, Time deadline) {
    if (deadline == never) co_return co_await self.mail().next_letter_or_change(inbox_of_rounds);
    auto first = co_await first_of(self.mail().next_letter_or_change(inbox_of_rounds),
                                   until(self, deadline));
    if (first.index() == 0) co_return std::get<0>(std::move(first));
    co_return std::nullopt;
}

// Collects the letters of a round until there are enough or no more can come. The map orders them
// by rank, so they are summed in that order.
Task<HandedIn> collect(Worker& self, RoundOptions options, std::int64_t round,
                       std::vector<Asked> asked) {
    const auto enough =
        static_cast<std::size_t>(clients_of_a_round(options.fraction, self.workers()));
    const Time deadline =
        options.deadline ? later(self.simulation().now(), *options.deadline) : never;
    HandedIn in;
    while (in.size() < enough) {
        const bool more = std::ranges::any_of(
            asked, [&](const Asked& one) { return !in.contains(one.rank) && may_come(self, one); });
        if (!more || self.simulation().now() >= deadline) break;
        std::optional<Letter> letter = co_await next_before(self, deadline);
        if (!letter || letter->number != static_cast<double>(round)) continue;
        const int from = letter->from;
        in.emplace(from, *std::move(letter));
    }
    co_return in;
}

// Returns the weight of all that a letter holds.
Bytes weigh(const Worker& self, const Letter& letter) {
    const Bytes one = self.weigh(*letter.vector);
    return letter.second ? one + self.weigh(*letter.second) : one;
}

}  // namespace

int clients_of_a_round(double fraction, int nodes) {
    // A product that is an integer mathematically may be rounded to slightly below it.
    return std::max(static_cast<int>(std::floor(fraction * nodes + 1e-9)), 1);
}

std::vector<int> draw_clients(RandomStream& rng, int nodes, int count) {
    PACELINE_CHECK(count >= 1 && count <= nodes, "a round has one client or more, nodes at most");
    std::vector<int> all(static_cast<std::size_t>(nodes));
    std::iota(all.begin(), all.end(), 0);
    for (int i = 0; i < count; ++i) {
        const int j = boost::random::uniform_int_distribution<int>(i, nodes - 1)(rng);
        std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
    }
    all.resize(static_cast<std::size_t>(count));
    return all;
}

int clients_asked(const RoundOptions& options, int nodes) {
    const int needed = clients_of_a_round(options.fraction, nodes);
    const double more = std::ceil(options.over_selection * needed - 1e-9);
    return std::min(static_cast<int>(more), nodes);
}

Duration encoding_time(const RoundOptions& options, const Layout& layout) {
    if (!options.compressor) return {};
    return encoding_time(*options.compressor, options.coding, layout,
                         options.error_feedback ? error_feedback_passes : 0);
}

// --- a client ---

Task<> Outbox::send(Worker& self, int to, Letter letter, Bytes weight) {
    const int life = self.lives().life(to);
    if (life != life_) {
        sending_.reset();
        self.mail().take_back_letters(to, inbox_of_rounds);
        left_.reset();
        life_ = life;
    }
    if (left_) co_await left_->happened({"a letter of an earlier round to leave"});
    left_ = std::make_shared<Signal>();
    sending_.emplace(self.start(post_and_tell(self, to, std::move(letter), weight, left_)));
    co_await left_->happened({"a letter to leave"});
}

Task<Letter> letter_of_round(Worker& self, std::int64_t round) {
    Letter letter = co_await self.mail().next_letter(inbox_of_rounds);
    while (letter.number != static_cast<double>(round))
        letter = co_await self.mail().next_letter(inbox_of_rounds);
    co_return letter;
}

bool round_goes_on(Worker& self, const RoundOptions& options) {
    return !ends_block(self.step(), options.local_steps) && self.begins_step();
}

Task<Vector> local_steps(Worker& self, RoundOptions options, Vector x, Correction correct) {
    Vector m = Vector::zero_like(x);
    do {
        const double gamma = self.learning_rate();
        co_await self.gradient(x, [&](Vector g) {
            if (correct) correct(x, g);
            momentum_step({options.momentum}, gamma, std::move(g), m, x);
        });
        co_await self.update();
    } while (round_goes_on(self, options));
    co_return x;
}

Task<> hand_in(Worker& self, std::int64_t round, Letter letter, Client& client) {
    const Bytes weight = weigh(self, letter);
    letter.number = static_cast<double>(round);
    co_await client.outbox.send(self, self.workers(), std::move(letter), weight);
}

Task<Vector> encode(Worker& self, RoundOptions options, Vector v, Client& client) {
    const Layout& charged = *self.charged_layout();
    co_await self.compute(encoding_time(options, charged), [&] {
        if (options.error_feedback)
            v = compress_with_feedback(*options.compressor, std::move(v), client.error,
                                       client.random, options.error_decay);
        else
            compress(*options.compressor, v, client.random);
    });
    co_return v;
}

Task<> hand_in_encoded(Worker& self, RoundOptions options, std::int64_t round, Letter letter,
                       Client& client) {
    letter.number = static_cast<double>(round);
    co_await client.outbox.send(self, self.workers(), std::move(letter),
                                message_bytes(*options.compressor, *self.charged_layout()));
}

Task<> hand_in_model(Worker& self, RoundOptions options, std::int64_t round, Vector x, Vector first,
                     Client& client) {
    if (!options.compressor) {
        co_await hand_in(self, round, {.vector = std::move(x)}, client);
        co_return;
    }
    Vector change = co_await encode(self, options, std::move(x) - first, client);
    co_await hand_in_encoded(self, options, round, {.vector = std::move(change)}, client);
}

Task<> train_in_rounds(Worker& self, RoundOptions options, TrainInRound train) {
    Client client{Vector::zero_like(self.model()), self.stream("compression")};
    while (self.begins_step()) {
        const bool under_way = self.lives().barriers_passed() % 2 == 1;
        if (under_way || self.step() % options.local_steps != 0) {  // joined within a round
            pass_steps(self, options);
            if (under_way) co_await self.barrier();
            continue;
        }
        co_await self.barrier();  // the round begins
        const std::int64_t round = round_of(self.step(), options);
        bool over = false;
        const std::vector<int> asked = draw(self, options, round);
        if (std::ranges::find(asked, self.rank()) != asked.end()) {
            const auto first = co_await first_of(train(round, client), self.barrier());
            over = first.index() == 1;  // its letter comes too late
        }
        pass_steps(self, options);
        if (!over) co_await self.barrier();  // waits until the server has updated its model
    }
}

// --- the server ---

Task<> serve_rounds(Worker& self, RoundOptions options, ServerPart part) {
    const std::int64_t first = (self.step() + options.local_steps) / options.local_steps;
    std::map<int, Outbox> outboxes;  // by client

    for (std::int64_t round = first;; ++round) {
        co_await self.barrier();
        std::vector<Task<>> sent;
        std::vector<Asked> asked;
        for (const int client : draw(self, options, round)) {
            asked.push_back({client, self.lives().life(client)});
            Letter letter = part.letter();
            letter.number = static_cast<double>(round);
            const Bytes weight = weigh(self, letter);
            sent.push_back(outboxes[client].send(self, client, std::move(letter), weight));
        }
        const std::size_t clients = asked.size();
        Pending<> sending = self.start(all_of(std::move(sent)));
        const HandedIn in = co_await collect(self, options, round, std::move(asked));
        if (!in.empty()) self.once(self.updates_done(), [&] { part.update(in); });
        self.metrics().count_round(clients, in.size());
        co_await self.barrier();
    }
}

Vector weighted_mean(const Worker& self, const HandedIn& in) {
    double samples = 0;
    for (const auto& [rank, letter] : in) samples += self.samples(rank);
    Vector mean = Vector::zero_like(*in.begin()->second.vector);
    for (const auto& [rank, letter] : in) mean += self.samples(rank) / samples * *letter.vector;
    return mean;
}

}  // namespace paceline
