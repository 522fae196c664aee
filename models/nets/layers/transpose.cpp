#include "models/nets/layers/transpose.hpp"

#include <type_traits>

namespace paceline {

namespace {

namespace packet = Eigen::internal;
using Eigen::Index;

template <class From, class To>
void transpose_entries(Index rows, Index columns, const From* from, Index from_row, To* to,
                       Index to_row) {
    for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < rows; ++i)
            to[j * to_row + i] = static_cast<To>(from[i * from_row + j]);
}

// Transposes a square in registers.
template <class Scalar>
void transpose_square(const Scalar* from, Index from_row, Scalar* to, Index to_row) {
    using Packet = typename packet::packet_traits<Scalar>::type;
    constexpr int size = packet::packet_traits<Scalar>::size;
    packet::PacketBlock<Packet, size> block;
    for (Index i = 0; i < size; ++i) block.packet[i] = packet::ploadu<Packet>(from + i * from_row);
    packet::ptranspose(block);
    for (Index j = 0; j < size; ++j) packet::pstoreu(to + j * to_row, block.packet[j]);
}

}  // namespace

template <class From, class To>
void transpose(Index rows, Index columns, const From* from, Index from_row, To* to, Index to_row) {
    if constexpr (std::is_same_v<From, To>) {
        constexpr Index size = packet::packet_traits<To>::size;
        const Index whole_rows = rows - rows % size;
        const Index whole_columns = columns - columns % size;
        for (Index j = 0; j < whole_columns; j += size)
            for (Index i = 0; i < whole_rows; i += size)
                transpose_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
        transpose_entries(rows, columns - whole_columns, from + whole_columns, from_row,
                          to + whole_columns * to_row, to_row);
        transpose_entries(rows - whole_rows, whole_columns, from + whole_rows * from_row, from_row,
                          to + whole_rows, to_row);
    } else {
        transpose_entries(rows, columns, from, from_row, to, to_row);
    }
}

template void transpose(Index, Index, const float*, Index, float*, Index);
template void transpose(Index, Index, const float*, Index, double*, Index);
template void transpose(Index, Index, const double*, Index, double*, Index);

}  // namespace paceline
