#include "app/host/content_hash.hpp"

#include <fstream>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

namespace paceline {

namespace {

std::string as_text(const XXH128_hash_t& hash) {
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

std::string content_hash(std::string_view content) {
    return as_text(XXH3_128bits(content.data(), content.size()));
}

std::string content_hash_of(const std::filesystem::path& file) {
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                         &XXH3_freeState);
    XXH3_128bits_reset(state.get());
    std::ifstream in(file, std::ios::binary);
    std::vector<char> piece(std::size_t{1} << 20U);
    while (in) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        XXH3_128bits_update(state.get(), piece.data(), static_cast<std::size_t>(in.gcount()));
    }
    return as_text(XXH3_128bits_digest(state.get()));
}

}  // namespace paceline
