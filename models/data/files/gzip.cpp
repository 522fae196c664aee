#include "models/data/files/gzip.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "models/data/files/data_error.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

/// A z_stream that frees its memory.
class Inflater {
  public:
    Inflater(std::string file, std::vector<unsigned char> compressed)
        : file_(std::move(file)), compressed_(std::move(compressed)) {
        PACELINE_CHECK(compressed_.size() <= std::numeric_limits<uInt>::max(),
                       "a compressed file fits in one piece");
        stream_.next_in = compressed_.data();
        stream_.avail_in = static_cast<uInt>(compressed_.size());
        constexpr int gzip_only = 16;
        if (inflateInit2(&stream_, gzip_only + MAX_WBITS) != Z_OK) fail("zlib cannot start");
    }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() { inflateEnd(&stream_); }

    std::vector<unsigned char> inflate_all(std::uint64_t limit) {
        std::vector<unsigned char> content;
        while (stream_.avail_in > 0) {
            inflate_member(limit, content);
            if (inflateReset(&stream_) != Z_OK) fail("zlib cannot start again");
        }
        return content;
    }

  private:
    void inflate_member(std::uint64_t limit, std::vector<unsigned char>& content) {
        std::array<unsigned char, 1 << 16> piece{};
        for (int result = Z_OK; result != Z_STREAM_END;) {
            stream_.next_out = piece.data();
            stream_.avail_out = static_cast<uInt>(piece.size());
            result = inflate(&stream_, Z_NO_FLUSH);
            if (result == Z_BUF_ERROR && stream_.avail_in == 0) fail("the gzip file is truncated");
            if (result != Z_OK && result != Z_STREAM_END)
                fail(stream_.msg != nullptr ? stream_.msg : "this is not gzip content");
            const std::size_t made = piece.size() - stream_.avail_out;
            if (made > limit - content.size())
                fail(fmt::format("the file inflates to more than {} bytes", limit));
            content.insert(content.end(), piece.begin(), piece.begin() + std::ptrdiff_t(made));
        }
    }

    [[noreturn]] void fail(std::string_view problem) const {
        throw DataError(file_, compressed_.size() - stream_.avail_in,
                        fmt::format("gzip: {}", problem));
    }

    std::string file_;
    std::vector<unsigned char> compressed_;
    z_stream stream_{};
};

}  // namespace

std::vector<unsigned char> inflate_gzip(const std::string& file,
                                        std::vector<unsigned char> compressed,
                                        std::uint64_t limit) {
    return Inflater(file, std::move(compressed)).inflate_all(limit);
}

}  // namespace paceline
