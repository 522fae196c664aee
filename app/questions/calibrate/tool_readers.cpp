#include "app/questions/calibrate/tool_readers.hpp"

#include <array>

#include "app/json/config_error.hpp"
#include "models/data/files/data_error.hpp"
#include "models/data/files/file_content.hpp"

namespace paceline {

namespace {

struct ToolReader {
    bool (*is_of)(std::string_view);
    MeasuredCollectives (*read)(const std::string&, std::string_view);
};

constexpr auto tool_readers = std::to_array<ToolReader>({
    {&is_torch_trace, &read_torch_trace},
    {&is_of_iperf3, &read_iperf3},
    {&is_of_nccl_tests, &read_nccl_tests},
    {&is_of_osu, &read_osu},
});

std::optional<MeasuredCollectives> read_plain(const std::string& file, std::string_view text) {
    for (const ToolReader& tool : tool_readers)
        if (tool.is_of(text)) return tool.read(file, text);
    return std::nullopt;
}

}  // namespace

std::optional<MeasuredCollectives> read_measured_collectives(const std::string& file,
                                                             std::string_view text) {
    const bool packed = text.starts_with("\x1f\x8b");
    if (!packed && text.starts_with("\xef\xbb\xbf")) return read_plain(file, text.substr(3));
    if (!packed && !has_mark_of_utf16(text)) return read_plain(file, text);
    try {
        const FileContent content = inflated({file, {text.begin(), text.end()}});
        return read_plain(file, text_of(content));
    } catch (const DataError& error) {
        throw ConfigError(error.file(), "", error.problem());
    }
}

}  // namespace paceline
