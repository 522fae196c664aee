#include "sim/collectives/inside_machine.hpp"

#include <utility>
#include <vector>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/reduce_scatter.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

Task<> send_eagerly(Rank self, int to, Bytes size) {
    co_await Send(self.network(), self.node(self.place()), self.node(to), self.stream(), size,
                  Protocol::eager);
}

Task<> receive(Rank self, int from) {
    co_await self.receive(from);
}

}  // namespace

Task<> gather_to_first(Rank self, BlockWeight block) {
    if (self.place() != 0) {
        co_await send_eagerly(self, 0, block(self.place()));
        co_return;
    }
    std::vector<Task<>> received;
    for (int place = 1; place < self.size(); ++place) received.push_back(receive(self, place));
    co_await when_all(std::move(received));
}

Task<> scatter_from_first(Rank self, BlockWeight block) {
    if (self.place() != 0) {
        co_await self.receive(0);
        co_return;
    }
    std::vector<Task<>> sent;
    for (int place = 1; place < self.size(); ++place)
        sent.push_back(send_eagerly(self, place, block(place)));
    co_await when_all(std::move(sent));
}

Task<> reduce_to_first(Rank self, Bytes size) {
    co_await ring_reduce_scatter(self, size);
    co_await gather_to_first(self,
                             [size, n = self.size()](int place) { return chunk(size, n, place); });
}

Task<> broadcast_from_first(Rank self, Bytes size) {
    co_await scatter_from_first(
        self, [size, n = self.size()](int place) { return chunk(size, n, place); });
    co_await ring_all_gather_chunks(self, size);
}

}  // namespace paceline
