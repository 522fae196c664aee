// Rounds of clients: in each round some workers train on their own, and a server updates its model
// with what they hand in. FedAvg and its relatives share this and add what a client trains and what
// the server does.
//
// Round r, with k = max(floor(C n), 1):
//   S    <-  min(ceil(o k), n) of the workers that are present, drawn uniformly without replacement
//   server sends x to each i in S, and what the method sends with it
//   each i in S trains for E steps and hands in a model or a change, and what the method hands in
//   with it
//   K    <-  the first k of them whose letters arrive, or fewer if no more can arrive
//   server updates x with the letters of K
//
//   symbol   here                 meaning
//   x        replicated_model()   the server's model, which is measured; changes as rounds end
//   C        options.fraction     in (0, 1]
//   o        options.over_selection   1 or more; 1.3 is FedScale's
//   E        options.local_steps  batches per round, not epochs
//   n_i      self.samples(i)      samples of worker i; all equal where they are unknown
//
// All workers count the same steps: a round is E of them. A worker outside S skips the round's
// steps at its beginning, computes nothing and sends nothing. A worker whose letter comes too late
// stops when the round is over and skips its remaining steps. Workers learn without messages when a
// round begins and ends (Worker::barrier). The workers in S wait for the end, since a round ends
// when the last letter has arrived. All workers draw S from one common stream, which stands for the
// message that a real server would send. The server asks S in the order of the draw, so of letters
// that arrive at the same instant, those of K are drawn, too. A run that stops within a round ends
// that round with the steps taken so far.
//
// A round with a deadline ends then, with the letters that have arrived; if there are none, the
// server does nothing. A letter that flows when its round ends flows on; the next one in its place
// leaves after it, unless its own round ends before. A letter to a client that dies flows on; those
// behind it are not sent. So nothing piles up if rounds, or lives of clients, are shorter than
// transfers. A client that is away is not drawn. The server does not wait for a client that dies or
// leaves within a round. A worker that joins within a round skips it.
//
// State: what the server keeps; on a worker nothing between rounds except the error of its
// compressor. Blocks: the round waits for the k-th of its workers. Nothing overlaps. Messages of a
// round: one down and one up for each worker in S.
//
// Limits: one server, on a node of its own behind the workers. It does not fail and learns at once
// which workers come and go; its arithmetic takes no time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/compression/compressor.hpp"
#include "algorithms/mail/letter.hpp"
#include "models/tensors/layout.hpp"
#include "models/tensors/vector.hpp"
#include "sim/engine/random.hpp"
#include "sim/engine/signal.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

struct RoundOptions {
    double fraction = 1;                     // C
    std::int64_t local_steps = 1;            // E
    double momentum = 0.9;                   // beta, of the local steps; anew in each round
    double over_selection = 1;               // o
    std::optional<Duration> deadline{};      // of a round, measured from its beginning
    std::optional<Compressor> compressor{};  // of the changes that clients hand in
    bool error_feedback = false;
    double error_decay = 1;
    CodingCost coding{};
};

/// Returns k = max(floor(C n), 1).
int clients_of_a_round(double fraction, int nodes);

/// Returns |S| = min(ceil(o k), n) if all workers are present.
int clients_asked(const RoundOptions& options, int nodes);

/// Returns the time to encode a trained model; zero without a compressor.
Duration encoding_time(const RoundOptions& options, const Layout& layout);

/// Draws `count` of 0 .. nodes-1 uniformly without replacement, in a random order. Requires
/// 1 <= count <= nodes.
std::vector<int> draw_clients(RandomStream& rng, int nodes, int count);

// --- a client ---

/// Sends letters to one receiver, each after the one before it has left. If its round ends before
/// that, a letter is not sent. Of the letters to an earlier life of the receiver only the one that
/// flows goes on. So rounds and lives that are shorter than a transfer do not queue up letters.
class Outbox {
  public:
    Task<> send(Worker& self, int to, Letter letter, Bytes weight);

  private:
    int life_ = 0;                    // of the receiver
    std::shared_ptr<Signal> left_{};  // of the last letter; null: there was none
    std::optional<Pending<>> sending_{};
};

/// State that a client keeps between rounds.
struct Client {
    Vector error;  // of its compressor
    RandomStream random;
    Outbox outbox{};
};

/// What a client does in one round: it awaits the letter of the round, trains and hands in. The
/// first step of the round has already begun. The task is dropped if the round ends before it.
using TrainInRound = std::function<Task<>(std::int64_t round, Client& client)>;

/// Runs a worker as a client.
Task<> train_in_rounds(Worker& self, RoundOptions options, TrainInRound train);

/// Returns what the server sent for this round.
Task<Letter> letter_of_round(Worker& self, std::int64_t round);

/// Begins the next step of the round and returns true, or returns false if there is none.
[[nodiscard]] bool round_goes_on(Worker& self, const RoundOptions& options);

/// Changes the gradient g of a local step at x.
using Correction = std::function<void(const Vector& x, Vector& g)>;

/// Takes the local steps of a round from x, and returns the trained model:
///   m <- 0,  then  m <- beta m + g,  x <- x - gamma m  for each step, with g corrected first
///                                                      (null: g as it is)
Task<Vector> local_steps(Worker& self, RoundOptions options, Vector x, Correction correct);

/// Hands in the trained model x or, with a compressor, its compressed difference from `first`.
Task<> hand_in_model(Worker& self, RoundOptions options, std::int64_t round, Vector x, Vector first,
                     Client& client);

/// Returns what the server decodes of v, and takes the time to encode it. Requires a compressor.
Task<Vector> encode(Worker& self, RoundOptions options, Vector v, Client& client);

/// Hands in a letter with the bytes of one encoded vector; what else it holds, the server derives.
/// Requires a compressor.
Task<> hand_in_encoded(Worker& self, RoundOptions options, std::int64_t round, Letter letter,
                       Client& client);

/// Hands in a letter that is not compressed.
Task<> hand_in(Worker& self, std::int64_t round, Letter letter, Client& client);

// --- the server ---

/// The letters that clients have handed in, by rank.
using HandedIn = std::map<int, Letter>;

struct ServerPart {
    std::function<Letter()> letter;                  // what is sent to each client of a round
    std::function<void(const HandedIn& in)> update;  // the end of a round; `in` is not empty
};

/// Runs the one server.
Task<> serve_rounds(Worker& self, RoundOptions options, ServerPart part);

/// Returns the sum of (n_i / sum of n_j) v_i over the vectors that were handed in.
Vector weighted_mean(const Worker& self, const HandedIn& in);

}  // namespace paceline
