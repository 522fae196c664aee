#include "app/host/content_hash.hpp"

#include <fstream>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

namespace paceline {

namespace {

std::string as_text(const XXH128_hash_t& hash) {
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct ContentHash::State {
    XXH3_state_t xxh;
};

ContentHash::ContentHash() : state_(new State) {
    XXH3_128bits_reset(&state_->xxh);
}

void ContentHash::Free::operator()(State* state) const {
    delete state;
}

void ContentHash::add(std::string_view piece) {
    XXH3_128bits_update(&state_->xxh, piece.data(), piece.size());
}

std::string ContentHash::text() const {
    return as_text(XXH3_128bits_digest(&state_->xxh));
}

std::string content_hash(std::string_view content) {
    return as_text(XXH3_128bits(content.data(), content.size()));
}

std::string content_hash_of(const std::filesystem::path& file) {
    ContentHash hash;
    std::ifstream in(file, std::ios::binary);
    std::vector<char> piece(std::size_t{64} << 10U);
    while (in) {
        in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        hash.add({piece.data(), static_cast<std::size_t>(in.gcount())});
    }
    return hash.text();
}

}  // namespace paceline
