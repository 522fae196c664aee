#include "sim/collectives/parameter_server.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/collectives/schedule.hpp"
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

// Receives a chunk from every worker and answers with the sum.
Task<> serve(Rank self, int host, Bytes part) {
    std::vector<Task<>> pushed;
    std::vector<Task<>> answers;
    for (int place = 0; place < self.size(); ++place) {
        const int worker = self.node(place);
        if (worker == host) continue;
        pushed.push_back(receive_part({self.network(), worker, host, self.stream()}));
        answers.push_back(send_part({self.network(), host, worker, self.second_stream()}, part));
    }
    co_await when_all(std::move(pushed));
    co_await when_all(std::move(answers));
}

}  // namespace

Task<> parameter_server_all_reduce(Rank self, Bytes size, int servers,
                                   std::optional<int> first_server_node) {
    PACELINE_CHECK(servers >= 1, "there is a server");
    servers = std::min(servers, self.size());

    const int here = self.node(self.place());
    std::vector<Task<>> work;
    for (int server = 0; server < servers; ++server) {
        const int host = first_server_node ? *first_server_node + server : self.node(server);
        const Bytes part = chunk(size, servers, server);
        if (server == self.place()) work.push_back(serve(self, host, part));
        if (host == here) continue;
        work.push_back(send_part({self.network(), here, host, self.stream()}, part));
        work.push_back(receive_part({self.network(), host, here, self.second_stream()}));
    }
    co_await when_all(std::move(work));
}

}  // namespace paceline
