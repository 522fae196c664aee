#include "sim/collectives/neighbor_exchange.hpp"

#include <utility>

#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

Task<> send_one(NetworkPart network, int self, int to, Stream stream, Bytes size) {
    co_await Send(network, self, to, stream, size, Protocol::eager);
}

Task<> receive_one(NetworkPart network, int self, int from, Stream stream) {
    co_await Receive(network, self, from, stream);
}

}  // namespace

Task<> neighbor_exchange(NetworkPart network, int self, std::vector<int> to, std::vector<int> from,
                         Stream stream, Bytes size) {
    std::vector<Task<>> transfers;
    transfers.reserve(to.size() + from.size());
    for (const int node : to) transfers.push_back(send_one(network, self, node, stream, size));
    for (const int node : from) transfers.push_back(receive_one(network, self, node, stream));
    co_await when_all(std::move(transfers));
}

}  // namespace paceline
