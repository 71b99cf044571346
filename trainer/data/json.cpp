// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/json.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace assay::trainer {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32;
const json kNull;

/// Ends the parsing of a text that is refused.
class RefusedText : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Refuses what is JSON and not ours. Parsing ends there, so that what follows costs neither memory nor time.
/// nlohmann itself nests without a limit, and keeps the last of repeated keys.
class Guard {
public:
    void operator()(int depth, json::parse_event_t event, const json& parsed) {
        if (depth > kMaxDepth) throw RefusedText("it is nested too deeply");
        if (event == json::parse_event_t::object_start) keys_.emplace_back();
        if (event == json::parse_event_t::object_end) keys_.pop_back();
        if (event == json::parse_event_t::key) {
            const auto& name = parsed.get_ref<const std::string&>();
            if (!keys_.back().insert(name).second)
                throw RefusedText("the key \"" + name + "\" is there twice");
        }
    }

private:
    std::vector<std::set<std::string>> keys_;
};

base::Failed<base::Error> bad_file(std::string_view where, const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, std::string(where) + " cannot be read: " + what,
                      "fetch or write the file again");
}

}  // namespace

base::Outcome<json> parse_json(std::string_view text, std::string_view where) {
    Guard guard;
    try {
        json value = json::parse(text.begin(), text.end(),
                                 [&guard](int depth, json::parse_event_t event, json& parsed) {
                                     guard(depth, event, parsed);
                                     return true;
                                 });
        return value;
    } catch (const RefusedText& refused) {
        return bad_file(where, refused.what());
    } catch (const json::exception& error) {
        return bad_file(where, std::string("it is not JSON (") + error.what() + ")");
    }
}

ObjectReader::ObjectReader(const json& value, std::string where) : object_(value), where_(std::move(where)) {
    if (!object_.is_object()) refuse("an object was expected");
}

void ObjectReader::refuse(std::string what) {
    if (!wrong_) wrong_ = std::move(what);
}

bool ObjectReader::has(const char* key) const { return object_.is_object() && object_.contains(key); }

const json& ObjectReader::value(const char* key) {
    asked_.insert(key);
    if (!has(key)) {
        refuse(std::string("the key \"") + key + "\" is missing");
        return kNull;
    }
    return object_.find(key).value();
}

std::string ObjectReader::text(const char* key) {
    const json& found = value(key);
    if (wrong_) return {};
    if (!found.is_string()) {
        refuse(std::string("\"") + key + "\" is not a text");
        return {};
    }
    return found.get<std::string>();
}

std::uint64_t ObjectReader::number(const char* key, std::uint64_t least, std::uint64_t most) {
    const json& found = value(key);
    if (wrong_) return 0;
    const bool whole = found.is_number_unsigned();
    const std::uint64_t count = whole ? found.get<std::uint64_t>() : 0;
    if (!whole || count < least || count > most) {
        refuse(std::string("\"") + key + "\" is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
        return 0;
    }
    return count;
}

base::Hash256 ObjectReader::hash(const char* key) {
    const std::string digits = text(key);
    if (wrong_) return {};
    const auto parsed = base::parse_hash(digits);
    if (!parsed) {
        refuse(std::string("\"") + key + "\" is not 64 lower-case hexadecimal digits");
        return {};
    }
    return *parsed;
}

base::Outcome<void> ObjectReader::finish() {
    if (object_.is_object()) {
        for (const auto& item : object_.items()) {
            if (!asked_.contains(item.key())) refuse("the key \"" + item.key() + "\" is not known");
        }
    }
    if (wrong_) return bad_file(where_, *wrong_);
    return {};
}

}  // namespace assay::trainer
