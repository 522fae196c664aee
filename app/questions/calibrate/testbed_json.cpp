#include "app/questions/calibrate/testbed_json.hpp"

#include <nlohmann/json.hpp>

#include "app/json/json_paths.hpp"

namespace paceline {

namespace {

Json constants_json(const Calibration& calibration) {
    Json constants = Json::array();
    for (const FittedConstant& constant : calibration.constants) {
        const VariedQuantity& range = constant.range;
        constants.push_back({{"path", range.path},
                             {"value", range.written(constant.value)},
                             {"low", range.written(constant.low)},
                             {"high", range.written(constant.high)},
                             {"low_is_open", constant.low_is_open},
                             {"high_is_open", constant.high_is_open},
                             {"range", {range.written(range.from), range.written(range.to)}}});
    }
    return constants;
}

Json open_json(const Calibration& calibration) {
    Json open = Json::array();
    for (const OpenCombination& combination : calibration.open) {
        Json shares = Json::array();
        for (const OpenCombination::Share& share : combination.shares)
            shares.push_back({{"path", share.path}, {"factor", share.factor}});
        Json measure;
        if (const auto& next = combination.next)
            measure = {{"what", next->what},
                       {"seconds", next->seconds},
                       {"device_seconds", next->device_seconds}};
        open.push_back({{"constants", std::move(shares)},
                        {"most_change", combination.most_change},
                        {"measure", std::move(measure)}});
    }
    return open;
}

Json draws_json(const Calibration& calibration) {
    Json draws = Json::array();
    for (const std::vector<double>& values : calibration.draws) {
        Json draw = Json::object();
        for (std::size_t j = 0; j < values.size(); ++j) {
            const VariedQuantity& range = calibration.constants[j].range;
            draw[range.path] = range.written(values[j]);
        }
        draws.push_back(std::move(draw));
    }
    return draws;
}

Json rows_json(const Calibration& calibration) {
    Json rows = Json::array();
    for (const FittedRow& row : calibration.rows)
        rows.push_back({{"row", row.name},
                        {"column", row.column},
                        {"measured", row.measured},
                        {"before", row.before ? Json(*row.before) : Json()},
                        {"fitted", row.fitted},
                        {"error", row.error()},
                        {"misfit", row.is_misfit}});
    return rows;
}

}  // namespace

std::string testbed_json(const Calibration& calibration, std::string_view program,
                         std::string_view date) {
    Json testbed;
    if (!calibration.title.empty()) testbed["title"] = calibration.title;
    testbed["scenario"] = calibration.file;
    testbed["program"] = program;
    testbed["date"] = date;
    testbed["level"] = calibration.level;
    testbed["noise"] = {{"share", calibration.noise}, {"assumed", calibration.noise_is_default}};
    testbed["constants"] = constants_json(calibration);
    testbed["draws"] = draws_json(calibration);
    testbed["open"] = open_json(calibration);
    testbed["rows"] = rows_json(calibration);
    testbed["cluster"] = Json::parse(calibration.base)["cluster"];
    for (const FittedConstant& constant : calibration.constants)
        put_at(testbed, constant.range.path, constant.range.written(constant.value),
               calibration.file, constant.range.path);
    return testbed.dump(2) + "\n";
}

}  // namespace paceline
