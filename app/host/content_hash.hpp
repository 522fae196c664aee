// Names for contents: 128 bits of XXH3, as 32 hex digits. Equal contents have equal names. An
// accidental collision is practically impossible, but the hash does not protect against deliberate
// ones.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace paceline {

/// Hashes a content piece by piece.
class ContentHash {
  public:
    ContentHash();
    void add(std::string_view piece);
    /// Returns the hash of all pieces so far, as if they were one text.
    [[nodiscard]] std::string text() const;

  private:
    struct State;
    struct Free {
        void operator()(State* state) const;
    };
    std::unique_ptr<State, Free> state_;
};

std::string content_hash(std::string_view content);

/// Returns the hash of a file, which is read piece by piece. A file that cannot be read counts as
/// empty.
std::string content_hash_of(const std::filesystem::path& file);

}  // namespace paceline
