// Letters between rank 0 and the other processes of a parallel job, and what a process knows of its
// place in it. Letters of one sender arrive in the order in which they were sent.
//
//   to rank 0:   greeting (text)            the first letter: who it is, whether it could begin
//                ask                        a loop has no run
//                result (run, text)         of a run, as app/point_file.hpp writes it
//                interrupted                a signal has told this rank to stop
//                fault (text)               of the program; it cannot go on
//                bye                        the last letter
//   from rank 0: begin                      there are runs to be done; ask
//                run (run), none            the answer to an ask
//                stop                       drop the runs under way
//                end (exit code)            the last letter
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace paceline {

enum class Word : std::uint8_t {
    greeting,
    ask,
    result,
    interrupted,
    fault,
    bye,
    begin,
    run,
    none,
    stop,
    end
};

struct RankLetter {
    int rank;  // who sent it
    Word word;
    std::uint64_t number = 0;
    std::string text{};
};

/// A process's place in the job.
struct Seat {
    int rank = 0;
    int ranks = 1;
    int ranks_here = 1;  // on this machine
    int cores = 1;       // this rank's share of the machine's
    int bound_to = 1;    // cores that it may run on
    std::string host;
};

/// How letters go. Called by one thread of a process.
class Post {
  public:
    Post() = default;
    Post(const Post&) = delete;
    Post& operator=(const Post&) = delete;
    virtual ~Post() = default;

    [[nodiscard]] virtual const Seat& seat() const = 0;
    /// Returns at once.
    virtual void send(int rank, Word word, std::uint64_t number, std::string text) = 0;
    /// The next letter that has come, if one has.
    virtual std::optional<RankLetter> receive() = 0;
    /// Ends all processes of the job without further ado.
    [[noreturn]] virtual void abort(int exit_code) = 0;

    void send(int rank, Word word, std::uint64_t number = 0) { send(rank, word, number, {}); }
};

/// How long to wait before looking for letters again: little while they come, and longer and longer
/// when none do, so that waiting costs next to nothing.
class Patience {
  public:
    void letter_came() { pause_ = shortest; }
    std::chrono::microseconds pause() {
        const auto now = pause_;
        pause_ = pause_ * 2 < longest ? pause_ * 2 : longest;
        return now;
    }

  private:
    static constexpr std::chrono::microseconds shortest{100};
    static constexpr std::chrono::microseconds longest{2000};
    std::chrono::microseconds pause_ = shortest;
};

/// The post of the job that an MPI launcher (mpirun, srun) has started this process in; null if none
/// has. Throws ConfigError when it has, and this program has no MPI or another one.
std::unique_ptr<Post> join_job();

}  // namespace paceline
