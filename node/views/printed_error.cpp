// SPDX-License-Identifier: Apache-2.0
#include "node/views/printed_error.hpp"

#include <nlohmann/json.hpp>

namespace assay::node {

namespace {

constexpr std::size_t kShownMax = 2000;

std::string_view without_line_ends(std::string_view text) {
    const std::size_t last = text.find_last_not_of("\r\n");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string text_in(const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<PrintedError> printed_error(std::string_view said) {
    said = without_line_ends(said);
    const std::size_t before = said.rfind('\n');
    const auto line =
        nlohmann::json::parse(said.substr(before == std::string_view::npos ? 0 : before + 1), nullptr, false);
    if (!line.is_object() || text_in(line, "schema") != "assay.error/v1") return std::nullopt;
    const auto told = line.find("error");
    if (told == line.end() || !told->is_object()) return std::nullopt;
    PrintedError error{
        .message = text_in(*told, "message"), .fix = text_in(*told, "fix"), .reason = 0, .reason_name = {}};
    if (const auto reason = told->find("reason"); reason != told->end() && reason->is_object()) {
        const auto number = reason->find("number");
        if (number != reason->end() && number->is_number_unsigned())
            error.reason = number->get<std::uint32_t>();
        error.reason_name = text_in(*reason, "name");
    }
    return error;
}

std::string why_it_ended(std::string_view said) {
    if (const auto error = printed_error(said); error && !error->message.empty()) return error->message;
    said = without_line_ends(said);
    if (said.empty()) return "it said nothing on its error stream";
    return std::string(said.size() > kShownMax ? said.substr(said.size() - kShownMax) : said);
}

}  // namespace assay::node
