#include "sim/network/mailboxes.hpp"

#include <algorithm>

#include "sim/engine/check.hpp"

namespace paceline {

Mailboxes::Box& Mailboxes::find(Node& node, int from, Stream stream) {
    for (Box& box : node)
        if (box.from == from && box.stream == stream) return box;
    return node.emplace_back(Box{.stream = stream, .from = from});
}

void Mailboxes::remove_if_idle(Node& node, Box& box) {
    if (box.arrived > 0 || box.holds || box.waiting > 0 || box.under_way > 0) return;
    box = node.back();
    node.pop_back();
}

bool Mailboxes::request_rendezvous(int to, int from, Stream stream, Message message) {
    Box& box = find(node(to), from, stream);
    if (box.waiting > box.under_way) {
        ++box.under_way;
        return true;
    }
    PACELINE_CHECK(!box.holds, "one message of a lane at a time is held");
    box.holds = true;
    box.held = message;
    return false;
}

void Mailboxes::deliver(int to, int from, Stream stream) {
    Box& box = find(node(to), from, stream);
    if (box.under_way > 0) --box.under_way;
    if (box.first == nullptr) {
        ++box.arrived;
        return;
    }
    Join& receiver = *box.first;
    box.first = receiver.behind;
    receiver.behind = nullptr;
    --box.waiting;
    receiver.arrive();
    remove_if_idle(node(to), box);
}

std::optional<Mailboxes::Message> Mailboxes::receive(int to, int from, Stream stream,
                                                     Join& receiver) {
    Box& box = find(node(to), from, stream);
    if (box.arrived > 0) {
        receiver.arrive();
        --box.arrived;
        remove_if_idle(node(to), box);
        return std::nullopt;
    }
    Join** end = &box.first;
    while (*end != nullptr) end = &(*end)->behind;
    *end = &receiver;
    ++box.waiting;
    if (!box.holds || box.waiting <= box.under_way) return std::nullopt;
    box.holds = false;
    ++box.under_way;
    return box.held;
}

void Mailboxes::withdraw(int to, int from, Stream stream, Join& receiver) {
    Box& box = find(node(to), from, stream);
    Join** place = &box.first;
    while (*place != nullptr && *place != &receiver) place = &(*place)->behind;
    if (*place != nullptr) {
        *place = receiver.behind;
        receiver.behind = nullptr;
        --box.waiting;
    }
    remove_if_idle(node(to), box);
}

bool Mailboxes::has_arrived(int to, int from, Stream stream) const {
    const Node& boxes = boxes_[static_cast<std::size_t>(to)];
    return std::ranges::any_of(boxes, [&](const Box& box) {
        return box.from == from && box.stream == stream && box.arrived > 0;
    });
}

}  // namespace paceline
