#include "algorithms/gossip/swarm_sgd.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "algorithms/lives/lives.hpp"
#include "algorithms/optimizers/momentum_change.hpp"
#include "algorithms/runtime/worker.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

constexpr int box = 0;  // one box for all letters, so that those of a pair stay in order

struct Outgoing {
    int to;
    Letter letter;
    Bytes weight;
};

struct Answered {};

// State that the steps of a node share with its services. It outlives the algorithm.
struct SwarmNode {
    SwarmSgdOptions options;
    std::vector<int> neighbors;
    RandomStream partners;
    RandomStream bursts;
    Vector m;
    std::optional<int> asked{};    // the node whose answer is awaited
    int life_asked = 0;            // the life of that node when it was asked
    std::optional<Vector> sent{};  // the vector sent to it, as others decode it
    std::int64_t averagings = 0;   // how often the live model was averaged
    bool in_burst = false;         // postpones answers
    std::vector<Letter> postponed{};
    Channel<Outgoing> outbox{};
    Channel<Answered> answered{};
};
using SwarmNodePtr = std::shared_ptr<SwarmNode>;

SwarmNodePtr make_node(Worker& self, const SwarmSgdOptions& options) {
    return std::make_shared<SwarmNode>(options, self.mixing()->listeners(self.rank()),
                                       self.stream("swarm partner"), self.stream("swarm steps"),
                                       Vector::zero_like(self.model()));
}

std::int64_t draw_burst(SwarmNode& node) {
    const std::int64_t mean = node.options.local_steps;
    if (node.options.steps_law == StepsLaw::fixed) return mean;
    boost::random::bernoulli_distribution<double> ends(1.0 / static_cast<double>(mean));
    std::int64_t steps = 1;
    while (!ends(node.bursts)) ++steps;
    return steps;
}

int draw_partner(SwarmNode& node) {
    boost::random::uniform_int_distribution<std::size_t> any(0, node.neighbors.size() - 1);
    return node.neighbors[any(node.partners)];
}

// Draws a partner for an exchange. Returns nullopt if there is no neighbor, or the one drawn is
// away.
std::optional<int> find_partner(const Worker& self, SwarmNode& node) {
    if (node.neighbors.empty()) return std::nullopt;
    const int partner = draw_partner(node);
    return self.lives().present(partner) ? std::optional(partner) : std::nullopt;
}

void forget_question(SwarmNode& node) {
    node.asked.reset();
    node.sent.reset();
}

Task<> answer_has_come(SwarmNodePtr node) {
    co_await node->answered.get();
}

// Waits for the answer of a partner, or until the partner is known to have died.
Task<> await_answer(Worker& self, SwarmNodePtr node, int partner) {
    if (!self.lives().others_fail()) {
        co_await node->answered.get();
        co_return;
    }
    const auto first =
        co_await first_of(answer_has_come(node), self.lives().death_detected(partner));
    if (first.index() == 1) forget_question(*node);
}

// --- messages ---

Bytes weight_of_a_vector(const Worker& self, const SwarmNode& node) {
    const std::int64_t entries = self.charged_layout()->entries();
    return node.options.lattice ? weigh_codes(*node.options.lattice, entries)
                                : self.wire().weigh(entries);
}

// Returns the vector as a receiver gets it if it decodes correctly.
Vector as_sent(const SwarmNode& node, const Vector& v) {
    if (!node.options.lattice || !v.has_values()) return v;
    return {v.layout(), round_to(*node.options.lattice, v.values())};
}

// Returns the vector as this receiver decodes it against `reference`, and counts decoding failures.
Vector as_received(Worker& self, const SwarmNode& node, const Vector& sent,
                   const Vector& reference) {
    if (!node.options.lattice || !sent.has_values()) return sent;
    const Lattice& lattice = *node.options.lattice;
    Eigen::VectorXd decoded = decode(lattice, encode(lattice, sent.values()), reference.values());
    self.metrics().count_decode_failures(decode_failures(lattice, sent.values(), decoded));
    return {sent.layout(), std::move(decoded)};
}

// Posts the letters of the outbox, one after the other. A request in the one-sided variant has no
// vector, so it takes no coding time.
Task<> post_letters(Worker& self, SwarmNodePtr node) {
    constexpr std::int64_t passes = 2;  // to encode, and to decode at the receiver
    for (;;) {
        Outgoing out = co_await node->outbox.get();
        if (node->options.lattice && out.weight > Bytes{0})
            co_await self.simulation().sleep(
                coding_time(node->options.coding, passes, self.charged_layout()->entries()));
        co_await self.mail().post(out.to, box, std::move(out.letter), out.weight);
    }
}

// The purpose of a letter, sent as its number.
constexpr double question = 0;
constexpr double answer = 1;

void put_out(const Worker& self, SwarmNode& node, int to, std::optional<Vector> v, double purpose) {
    const Bytes weight = v ? weight_of_a_vector(self, node) : Bytes{0};
    node.outbox.put({to, Letter{std::move(v), purpose}, weight});
}

// --- two-sided exchanges ---

void ask(const Worker& self, SwarmNode& node, int partner, const Vector& copy) {
    node.asked = partner;
    node.life_asked = self.lives().life(partner);
    node.sent = as_sent(node, copy);
    put_out(self, node, *node.asked, node.sent, question);
}

// Returns half of the difference between the received vector and `mine`, the vector that this node
// sent.
Vector shift(Worker& self, SwarmNode& node, const Letter& letter, const Vector& mine,
             const Vector& reference) {
    ++node.averagings;
    return 0.5 * (as_received(self, node, *letter.vector, reference) - mine);
}

// A request from the node that was asked counts as its answer: the two requests have crossed.
bool is_my_answer(const SwarmNode& node, const Letter& letter) {
    return node.asked == letter.from;
}

// Such a letter answers a question from an earlier life of this node.
bool is_out_of_date(const SwarmNode& node, const Letter& letter) {
    return letter.number == answer && !is_my_answer(node, letter);
}

// Answers a request and returns the shift that the caller adds to the live model, and to the copy
// if there is one.
Vector answer_to(Worker& self, SwarmNode& node, const Letter& letter, const Vector& copy) {
    const Vector mine = as_sent(node, copy);
    put_out(self, node, letter.from, mine, answer);
    return shift(self, node, letter, mine, copy);
}

Vector taken_answer(Worker& self, SwarmNode& node, const Letter& letter, const Vector& reference) {
    const Vector sent = std::move(*node.sent);
    forget_question(node);
    return shift(self, node, letter, sent, reference);
}

// Takes one local step. The live model may be averaged during the gradient, so the step adds its
// change instead of replacing the model.
Task<> take_step(Worker& self, SwarmNodePtr node) {
    const double gamma = self.learning_rate();
    const Vector at = self.model();
    const std::int64_t averagings = node->averagings;
    const Vector g = co_await self.gradient(at);
    self.metrics().count_staleness(static_cast<double>(node->averagings - averagings));
    self.model() += momentum_change(node->options.rule, gamma, g, node->m, at);
    co_await self.update();
}

// Takes the steps of a burst. Returns false if training ended within the burst.
Task<bool> take_burst(Worker& self, SwarmNodePtr node) {
    for (std::int64_t left = draw_burst(*node); left > 0; --left) {
        if (!self.begins_step()) co_return false;
        co_await take_step(self, node);
    }
    co_return true;
}

// --- blocking ---

void answer_in_blocking(Worker& self, SwarmNode& node, const Letter& letter) {
    const Vector x = self.model();
    self.model() += answer_to(self, node, letter, x);
}

Task<> read_letters_in_blocking(Worker& self, SwarmNodePtr node) {
    for (;;) {
        Letter letter = co_await self.mail().next_letter(box);
        if (is_out_of_date(*node, letter)) continue;
        if (is_my_answer(*node, letter)) {
            const Vector x = self.model();
            self.model() += taken_answer(self, *node, letter, x);
            node->answered.put({});
        } else if (node->in_burst) {
            node->postponed.push_back(std::move(letter));
        } else {
            answer_in_blocking(self, *node, letter);
        }
    }
}

void answer_postponed(Worker& self, SwarmNode& node) {
    node.in_burst = false;
    for (const Letter& letter : std::exchange(node.postponed, {}))
        answer_in_blocking(self, node, letter);
}

// --- non-blocking ---

Task<> read_letters_in_non_blocking(Worker& self, SwarmNodePtr node, std::shared_ptr<Vector> copy) {
    for (;;) {
        const Letter letter = co_await self.mail().next_letter(box);
        if (is_out_of_date(*node, letter)) continue;
        if (is_my_answer(*node, letter)) {
            self.model() += taken_answer(self, *node, letter, *copy);
            *copy = self.model();
        } else {
            const Vector by = answer_to(self, *node, letter, *copy);
            self.model() += by;
            *copy += by;
        }
    }
}

// --- one-sided ---

Task<> read_letters_in_one_sided(Worker& self, SwarmNodePtr node) {
    for (;;) {
        const Letter letter = co_await self.mail().next_letter(box);
        if (!letter.vector) {
            put_out(self, *node, letter.from, as_sent(*node, self.model()), answer);
            continue;
        }
        const Vector pulled = as_received(self, *node, *letter.vector, self.model());
        self.model() = 0.5 * (self.model() + pulled);
        ++node->averagings;
        node->answered.put({});
    }
}

}  // namespace

Task<> swarm_sgd_blocking(Worker& self, SwarmSgdOptions options) {
    const SwarmNodePtr node = make_node(self, options);
    self.serve(read_letters_in_blocking(self, node));
    self.serve(post_letters(self, node));

    for (;;) {
        node->in_burst = true;
        const bool whole = co_await take_burst(self, node);
        answer_postponed(self, *node);
        if (!whole) co_return;
        const std::optional<int> partner = find_partner(self, *node);
        if (!partner) continue;
        ask(self, *node, *partner, self.model());
        co_await await_answer(self, node, *partner);
    }
}

Task<> swarm_sgd_non_blocking(Worker& self, SwarmSgdOptions options) {
    const SwarmNodePtr node = make_node(self, options);
    const auto copy = std::make_shared<Vector>(self.model());
    self.serve(read_letters_in_non_blocking(self, node, copy));
    self.serve(post_letters(self, node));

    std::int64_t left = draw_burst(*node);
    while (self.begins_step()) {
        if (left == 0) {
            if (node->asked && self.lives().is_known_dead(*node->asked, node->life_asked))
                forget_question(*node);
            if (!node->asked)
                if (const auto partner = find_partner(self, *node))
                    ask(self, *node, *partner, *copy);
            left = draw_burst(*node);
        }
        co_await take_step(self, node);
        --left;
    }
}

Task<> swarm_sgd_one_sided(Worker& self, SwarmSgdOptions options) {
    const SwarmNodePtr node = make_node(self, options);
    self.serve(read_letters_in_one_sided(self, node));
    self.serve(post_letters(self, node));

    for (;;) {
        const bool whole = co_await take_burst(self, node);
        if (!whole) co_return;
        const std::optional<int> partner = find_partner(self, *node);
        if (!partner) continue;
        put_out(self, *node, *partner, std::nullopt, question);
        co_await await_answer(self, node, *partner);
    }
}

}  // namespace paceline
