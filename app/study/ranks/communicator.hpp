// Messages between rank 0 and the other processes of a parallel job, and each process's
// place in it. Messages from one sender arrive in the order in which they were sent.
//
//   to rank 0:   hello (text)               the first message: identity, and whether it can begin
//                ask                        a loop has no run
//                result (run, text)         of a run, as app/study/point_file.hpp writes it
//                interrupted                a signal has asked this rank to stop
//                fault (text)               the program has failed and cannot continue
//                bye                        the last message
//   from rank 0: begin                      there are runs to do; ask for them
//                run (run), none            the answer to an ask
//                stop                       drop the runs in progress
//                end (exit code)            the last message
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace paceline {

enum class MessageKind : std::uint8_t {
    hello,
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

struct RankMessage {
    int rank;  // who sent it
    MessageKind kind;
    std::uint64_t number = 0;
    std::string text{};
};

/// A process's place in the job.
struct RankInfo {
    int rank = 0;
    int ranks = 1;
    int ranks_here = 1;  // on this machine
    int cores = 1;       // this rank's share of the machine's cores
    int bound_to = 1;    // cores that it may run on
    std::string host;
};

/// Sends and receives messages. Only one thread of a process may use it.
class Communicator {
  public:
    Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    virtual ~Communicator() = default;

    [[nodiscard]] virtual const RankInfo& info() const = 0;
    /// Returns at once.
    virtual void send(int rank, MessageKind kind, std::uint64_t number, std::string text) = 0;
    /// Returns the next message that has arrived, if any.
    virtual std::optional<RankMessage> receive() = 0;
    /// Ends all processes of the job immediately.
    [[noreturn]] virtual void abort(int exit_code) = 0;

    void send(int rank, MessageKind kind, std::uint64_t number = 0) {
        send(rank, kind, number, {});
    }
};

/// How long to wait before checking for messages again: briefly while messages arrive, and longer
/// and longer while none do, so that waiting costs next to nothing.
class Patience {
  public:
    void message_came() { pause_ = shortest; }
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

/// Returns the communicator of the job in which an MPI launcher (mpirun, srun) has started this
/// process; null if there was no launcher. Throws ConfigError if there was one but there is no MPI,
/// or another one than this program was built with.
std::unique_ptr<Communicator> join_job();

/// Returns the file that join_job loads MPI with, or "none" and that it is not there.
std::string mpi_there();

}  // namespace paceline
