#include "sim/network/mailboxes.hpp"

#include <utility>

#include "sim/engine/check.hpp"

namespace paceline {

Mailboxes::Box& Mailboxes::find(Node& node, int from, Stream stream) {
    for (Box& box : node)
        if (box.from == from && box.stream == stream) return box;
    return node.emplace_back(Box{.stream = stream, .from = from});
}

void Mailboxes::remove_if_idle(Node& node, Box& box) {
    if (box.arrived > 0 || box.holds || box.receiver != nullptr) return;
    box = node.back();
    node.pop_back();
}

bool Mailboxes::meet(int to, int from, Stream stream, Message message) {
    Box& box = find(node(to), from, stream);
    if (box.receiver != nullptr && !box.met) return box.met = true;
    PACELINE_CHECK(!box.holds, "one message of a lane at a time is held");
    box.holds = true;
    box.held = message;
    return false;
}

void Mailboxes::deliver(int to, int from, Stream stream) {
    Box& box = find(node(to), from, stream);
    box.met = false;
    if (box.receiver == nullptr) {
        ++box.arrived;
        return;
    }
    std::exchange(box.receiver, nullptr)->arrive();
    remove_if_idle(node(to), box);
}

std::optional<Mailboxes::Message> Mailboxes::receive(int to, int from, Stream stream,
                                                     Join& receiver) {
    Box& box = find(node(to), from, stream);
    PACELINE_CHECK(box.receiver == nullptr, "one receiver at a time waits on a lane");
    if (box.arrived > 0) {
        receiver.arrive();
        --box.arrived;
        remove_if_idle(node(to), box);
        return std::nullopt;
    }
    box.receiver = &receiver;
    if (!box.holds) return std::nullopt;
    box.holds = false;
    box.met = true;
    return box.held;
}

void Mailboxes::withdraw(int to, int from, Stream stream, const Join& receiver) {
    for (Box& box : node(to)) {
        if (box.from != from || box.stream != stream || box.receiver != &receiver) continue;
        box.receiver = nullptr;
        if (!box.met) remove_if_idle(node(to), box);
        return;
    }
}

}  // namespace paceline
