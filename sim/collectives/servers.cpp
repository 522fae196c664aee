#include "sim/collectives/servers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"
#include "sim/messages/transfer.hpp"

namespace paceline {

namespace {

// Messages to the server use the collective's stream, and answers use its second one. If a worker's
// machine is also a server, both directions may be in flight between the same two machines.
struct ServerLane {
    NetworkPart network;
    int from;
    int to;
    Stream stream;
};

Task<> send_part(ServerLane lane, Bytes part) {
    co_await Send(lane.network, lane.from, lane.to, lane.stream, part, Protocol::eager);
}

Task<> receive_part(ServerLane lane) {
    co_await Receive(lane.network, lane.to, lane.from, lane.stream);
}

// Receives a part of the shard from every worker, works on it, and answers.
Task<> serve(Rank self, int host, int shard, Bytes answer, ShardWork work) {
    std::vector<Task<>> pushed;
    std::vector<Task<>> answers;
    for (int place = 0; place < self.size(); ++place) {
        const int worker = self.node(place);
        if (worker == host) continue;
        pushed.push_back(receive_part({self.network(), worker, host, self.stream()}));
        answers.push_back(send_part({self.network(), host, worker, self.second_stream()}, answer));
    }
    co_await when_all(std::move(pushed));
    if (work) co_await work(shard);
    co_await when_all(std::move(answers));
}

}  // namespace

Task<> server_exchange(Rank self, ServerShape shape, ShardWeight up, ShardWeight down,
                       ShardWork work) {
    PACELINE_CHECK(shape.servers >= 1, "there is a server");
    const int servers = std::min(shape.servers, self.size());

    const int here = self.node(self.place());
    std::vector<Task<>> parts;
    for (int server = 0; server < servers; ++server) {
        const int host = shape.first_node ? *shape.first_node + server : self.node(server);
        if (server == self.place()) parts.push_back(serve(self, host, server, down(server), work));
        if (host == here) continue;
        parts.push_back(send_part({self.network(), here, host, self.stream()}, up(server)));
        parts.push_back(receive_part({self.network(), host, here, self.second_stream()}));
    }
    co_await when_all(std::move(parts));
}

}  // namespace paceline
