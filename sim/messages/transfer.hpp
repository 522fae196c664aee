// Awaiters for the network: send, receive, or both at once.
//
//   Send       waits until the message has drained
//   Receive    waits until the lane's next message is delivered
//   Exchange   waits for both; one step of a collective
//
// These are awaiters, not tasks: they live in the frame that waits, so a message allocates nothing.
// An awaiter that is destroyed early stops listening; a message already sent continues to its
// destination.
#pragma once

#include <coroutine>

#include "sim/engine/coroutine.hpp"
#include "sim/engine/units.hpp"
#include "sim/network/network_part.hpp"

namespace paceline {

class [[nodiscard]] Send {
  public:
    Send(NetworkPart network, int from, int to, Stream stream, Bytes size, Protocol protocol,
         const MessageCost& cost = {})
        : network_(network),
          cost_(cost),
          stream_(stream),
          size_(size),
          from_(from),
          to_(to),
          protocol_(protocol) {}
    Send(const Send&) = delete;
    Send& operator=(const Send&) = delete;
    ~Send() {
        if (sent_ && !join_.complete()) network_.forget(message_);
    }

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& sender = handle.promise();
        message_ = network_.send(from_, to_, stream_, size_, protocol_, join_, cost_);
        sent_ = true;
        sender.waits_for({"room on the way to node", to_});
        join_.wake(sender);
    }
    static void await_resume() noexcept {}

  private:
    NetworkPart network_;
    MessageCost cost_;
    Join join_{1};
    MessageId message_;
    Stream stream_;
    Bytes size_;
    int from_;
    int to_;
    Protocol protocol_;
    bool sent_ = false;
};

class [[nodiscard]] Receive {
  public:
    Receive(NetworkPart network, int to, int from, Stream stream,
            Protocol protocol = Protocol::eager)
        : network_(network), stream_(stream), to_(to), from_(from), protocol_(protocol) {}
    Receive(const Receive&) = delete;
    Receive& operator=(const Receive&) = delete;
    ~Receive() {
        if (asked_ && !join_.complete()) network_.withdraw(to_, from_, stream_, join_);
    }

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
        network_.receive(to_, from_, stream_, join_, protocol_);
        asked_ = true;
        if (join_.complete()) return false;  // it had already arrived
        Coroutine& receiver = handle.promise();
        receiver.waits_for({"a message from node", from_});
        join_.wake(receiver);
        return true;
    }
    static void await_resume() noexcept {}

  private:
    NetworkPart network_;
    Join join_{1};
    Stream stream_;
    int to_;
    int from_;
    Protocol protocol_;
    bool asked_ = false;
};

class [[nodiscard]] Exchange {
  public:
    Exchange(NetworkPart network, int self, int to, Bytes size, int from, Stream stream,
             Protocol protocol, bool grouped = false, const MessageCost& cost = {})
        : network_(network),
          cost_(cost),
          stream_(stream),
          size_(size),
          self_(self),
          to_(to),
          from_(from),
          protocol_(protocol),
          grouped_(grouped) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange() {
        if (!started_ || join_.complete()) return;
        network_.forget(message_);
        network_.withdraw(self_, from_, stream_, join_);
    }

    static bool await_ready() noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) {
        Coroutine& waiter = handle.promise();
        message_ = network_.send(self_, to_, stream_, size_, protocol_, join_, cost_);
        if (grouped_) network_.group(message_);
        network_.receive(self_, from_, stream_, join_, protocol_);
        started_ = true;
        waiter.waits_for({"an exchange with node", from_});
        join_.wake(waiter);
    }
    static void await_resume() noexcept {}

  private:
    NetworkPart network_;
    MessageCost cost_;
    Join join_{2};
    MessageId message_;
    Stream stream_;
    Bytes size_;
    int self_;
    int to_;
    int from_;
    Protocol protocol_;
    bool grouped_;
    bool started_ = false;
};

}  // namespace paceline
