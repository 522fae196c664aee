#include "app/json/json_file.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

namespace {

std::string line_and_column(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t start = before.rfind('\n');
    const std::size_t column =
        before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    return fmt::format("line {}, column {}", line, column);
}

// Returns the parser's own message without its number and position.
std::string reason(const nlohmann::json::exception& error) {
    std::string_view what = error.what();
    if (const std::size_t number = what.find("] "); what.starts_with('['))
        what.remove_prefix(number + 2);
    if (what.starts_with("parse error at ")) what.remove_prefix(what.find(": ") + 2);
    return std::string(what.substr(0, 200));
}

// Checks depth and repeated keys, before anything is built. nlohmann's parser could do this while
// it builds, through a callback, but with one it looks at all elements of a list after each of
// them.
class Guard : public nlohmann::json_sax<Json> {
  public:
    explicit Guard(std::string file) : file_(std::move(file)) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return begin(); }
    bool start_array(std::size_t) override { return begin(); }
    bool end_object() override { return end(); }
    bool end_array() override { return end(); }
    bool key(string_t& name) override {
        if (!keys_.back().insert(name).second)
            throw ConfigError(file_, "",
                              fmt::format("the key \"{}\" occurs twice in one object; keep one",
                                          name.substr(0, 100)));
        return true;
    }
    // The parser that builds reports the error.
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }

  private:
    bool begin() {
        keys_.emplace_back();
        if (keys_.size() > max_depth)
            throw ConfigError(file_, "", fmt::format("nested deeper than {} levels", max_depth));
        return true;
    }
    bool end() {
        keys_.pop_back();
        return true;
    }

    std::string file_;
    std::vector<std::set<std::string>> keys_;
};

}  // namespace

void check_file_size(std::size_t size, const std::string& file) {
    if (size > max_file_size)
        throw ConfigError(file, "", fmt::format("is larger than {} MiB", max_file_size >> 20U));
}

Json parse_json(std::string_view text, const std::string& file) {
    check_file_size(text.size(), file);
    Guard guard(file);
    if (has_mark_of_utf16(text)) throw ConfigError(file, "", not_utf8);
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        throw ConfigError(
            file, "", fmt::format("is not JSON at {}: a NUL byte", line_and_column(text, nul + 1)));
    try {
        Json::sax_parse(text.begin(), text.end(), &guard);
        return Json::parse(text.begin(), text.end());
    } catch (const nlohmann::json::parse_error& error) {
        throw ConfigError(
            file, "",
            fmt::format("is not JSON at {}: {}", line_and_column(text, error.byte), reason(error)));
    } catch (const nlohmann::json::exception& error) {
        throw ConfigError(file, "", fmt::format("is not JSON: {}", reason(error)));
    }
}

}  // namespace paceline
