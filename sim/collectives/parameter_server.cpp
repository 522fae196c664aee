#include "sim/collectives/parameter_server.hpp"

#include <algorithm>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/servers.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

Task<> parameter_server_all_reduce(Rank self, Bytes size, int servers,
                                   std::optional<int> first_server_node) {
    PACELINE_CHECK(servers >= 1, "there is a server");
    const int shards = std::min(servers, self.size());
    const ShardWeight part = [size, shards](int shard) { return chunk(size, shards, shard); };
    return server_exchange(std::move(self), {servers, first_server_node}, part, part, {});
}

}  // namespace paceline
