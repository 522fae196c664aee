#include "app/study/ranks/follower.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "app/study/point_file.hpp"
#include "app/study/ranks/hello.hpp"

namespace paceline {

namespace {

// Passes messages between the loops, which have their own threads, and the thread of the
// communicator.
class Outbox {
  public:
    struct Outgoing {
        MessageKind kind;
        std::uint64_t number = 0;
        std::string text{};
    };

    // --- for the loops ---

    // Returns the next run; nothing if there are no more for now.
    std::optional<std::size_t> next_run() {
        std::unique_lock lock(mutex_);
        put_out_locked({MessageKind::ask});
        came_.wait(lock, [this] { return over_ || !answers_.empty(); });
        if (over_) return std::nullopt;
        const auto answer = answers_.front();
        answers_.pop_front();
        return answer;
    }
    void put_out(Outgoing message) {
        const std::scoped_lock lock(mutex_);
        put_out_locked(std::move(message));
    }
    // Waits until rank 0 begins. Returns false if rank 0 ends the job instead.
    bool begins() {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return over_ || begun_ > 0; });
        if (over_) return false;
        --begun_;
        return true;
    }

    // --- for the post ---

    void begin() {
        const std::scoped_lock lock(mutex_);
        ++begun_;
        came_.notify_all();
    }
    void answer(std::optional<std::size_t> run) {
        const std::scoped_lock lock(mutex_);
        answers_.push_back(run);
        came_.notify_all();
    }
    // After this, nothing more is requested or begun.
    void close() {
        const std::scoped_lock lock(mutex_);
        over_ = true;
        came_.notify_all();
    }
    // Waits up to `a_while` for messages to send.
    std::deque<Outgoing> outgoing(std::chrono::microseconds a_while) {
        std::unique_lock lock(mutex_);
        put_.wait_for(lock, a_while, [this] { return !out_.empty(); });
        return std::exchange(out_, {});
    }

  private:
    void put_out_locked(Outgoing message) {
        out_.push_back(std::move(message));
        put_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::condition_variable put_;
    std::deque<Outgoing> out_;
    std::deque<std::optional<std::size_t>> answers_;
    int begun_ = 0;
    bool over_ = false;
};

// Runs the loops until the outbox closes.
void run_loops(Outbox& outbox, const StudyRuns& runs, const PoolSize& size,
               const std::stop_token& stop) {
    try {
        StudyProgress progress(runs, size.loops, Telling::nothing);
        const RunExchange exchange{
            [&outbox] { return outbox.next_run(); },
            [&](std::size_t run, const PointResult& result) {
                outbox.put_out({MessageKind::result, run, point_text(runs.key(run), result)});
            }};
        while (outbox.begins()) run_side_by_side(runs, size, exchange, progress, stop);
    } catch (const std::exception& error) {
        outbox.put_out({MessageKind::fault, 0, error.what()});
    }
}

// Acts on a message. Returns the exit code once rank 0 has sent it.
std::optional<int> obey(const RankMessage& message, Outbox& outbox, std::stop_source& runs_stop) {
    switch (message.kind) {
        case MessageKind::begin:
            outbox.begin();
            break;
        case MessageKind::run:
            outbox.answer(message.number);
            break;
        case MessageKind::none:
            outbox.answer(std::nullopt);
            break;
        case MessageKind::stop:
            runs_stop.request_stop();
            break;
        case MessageKind::end:
            return static_cast<int>(message.number);
        default:
            break;
    }
    return std::nullopt;
}

int serve(Communicator& communicator, Outbox& outbox, std::stop_source& runs_stop,
          const std::stop_token& stop) {
    Patience patience;
    bool sent = false;
    while (true) {
        for (Outbox::Outgoing& message : outbox.outgoing(patience.pause())) {
            communicator.send(0, message.kind, message.number, std::move(message.text));
            patience.message_came();
        }
        if (stop.stop_requested() && !std::exchange(sent, true)) {
            communicator.send(0, MessageKind::interrupted);
            runs_stop.request_stop();
        }
        while (const auto message = communicator.receive()) {
            patience.message_came();
            if (const auto exit_code = obey(*message, outbox, runs_stop)) return *exit_code;
        }
    }
}

}  // namespace

int follow(Communicator& communicator, const Study& study, const PoolSize& size,
           const std::stop_token& stop) {
    const StudyRuns runs(study);
    Hello hello{communicator.info().host, size.loops, {}, {}, {}};
    sign(hello, runs);
    communicator.send(0, MessageKind::hello, 0, hello_text(hello));

    Outbox outbox;
    std::stop_source runs_stop;
    std::jthread loops([&] { run_loops(outbox, runs, size, runs_stop.get_token()); });
    const int exit_code = serve(communicator, outbox, runs_stop, stop);
    runs_stop.request_stop();
    outbox.close();
    loops.join();
    communicator.send(0, MessageKind::bye);
    return exit_code;
}

int decline(Communicator& communicator, const std::string& error) {
    const Hello hello{communicator.info().host, 1, error, {}, {}};
    communicator.send(0, MessageKind::hello, 0, hello_text(hello));
    Patience patience;
    while (true) {
        const auto message = communicator.receive();
        if (!message) {
            std::this_thread::sleep_for(patience.pause());
        } else if (message->kind == MessageKind::end) {
            communicator.send(0, MessageKind::bye);
            return static_cast<int>(message->number);
        }
    }
}

}  // namespace paceline
