#include "algorithms/exchange/vector_chunk.hpp"

#include <cstddef>
#include <cstdint>

#include "sim/collectives/chunks.hpp"

namespace paceline {

namespace {

std::int64_t begin(const Layout& whole, int count, int index) {
    return chunks(Bytes{whole.entries()}, count, 0, index).count;
}

}  // namespace

LayoutPtr VectorChunk::of(const Layout& whole) const {
    return part_of(whole, begin(whole, count, index), begin(whole, count, index + 1));
}

Vector VectorChunk::cut(const Vector& whole) const {
    Vector chunk(of(*whole.layout()));
    if (whole.has_values())
        chunk = {chunk.layout(),
                 whole.values().segment(begin(*whole.layout(), count, index), chunk.entries())};
    return chunk;
}

Vector VectorChunk::placed(const Vector& chunk, const LayoutPtr& whole) const {
    if (!chunk.has_values()) return Vector(whole);
    Eigen::VectorXd values = Eigen::VectorXd::Zero(whole->entries());
    values.segment(begin(*whole, count, index), chunk.entries()) = chunk.values();
    return {whole, std::move(values)};
}

Vector joined_chunks(const Round<Vector>& round) {
    Vector all = round.of(0);
    for (std::size_t i = 1; i < round.members(); ++i) all += round.of(i);
    return all;
}

}  // namespace paceline
