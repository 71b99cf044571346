// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <tuple>

#include "trainer/data/json.hpp"
#include "trainer/model/safetensors.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxRank = 8;

base::Failed<base::Error> malformed(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "the safetensors file cannot be used: " + what,
                      "fetch or export the model again");
}

/// Bytes of one number; 0 for a type that is not known, or whose numbers are not whole bytes.
std::uint64_t bytes_of_type(std::string_view type) {
    constexpr std::pair<std::string_view, std::uint64_t> kTypes[] = {
        {"BOOL", 1}, {"U8", 1},  {"I8", 1},   {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"I16", 2},
        {"U16", 2},  {"F16", 2}, {"BF16", 2}, {"I32", 4},     {"U32", 4},     {"F32", 4},
        {"F64", 8},  {"I64", 8}, {"U64", 8},  {"C64", 8}};
    for (const auto& [name, bytes] : kTypes) {
        if (name == type) return bytes;
    }
    return 0;
}

/// Product of the dimensions; nothing when it does not fit the 2^60 numbers that 64-bit offsets can reach.
std::optional<std::uint64_t> element_count(const std::vector<std::uint64_t>& shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) {
        if (size != 0 && count > (std::uint64_t{1} << 60) / size) return std::nullopt;
        count *= size;
    }
    return count;
}

base::Outcome<std::vector<std::uint64_t>> unsigned_list(const json& value, const std::string& what,
                                                        std::size_t most) {
    if (!value.is_array() || value.size() > most) return malformed(what + " is not a short list");
    std::vector<std::uint64_t> numbers;
    for (const json& item : value) {
        if (!item.is_number_unsigned()) return malformed(what + " holds something other than whole numbers");
        numbers.push_back(item.get<std::uint64_t>());
    }
    return numbers;
}

/// One entry of the header, checked against its own shape; `data_bytes` bounds its range.
base::Outcome<SafetensorsEntry> read_entry(const std::string& name, const json& value,
                                           std::uint64_t data_bytes) {
    const std::string who = "tensor \"" + name + "\"";
    ObjectReader reader(value, who);
    SafetensorsEntry entry;
    entry.name = name;
    entry.type = reader.text("dtype");
    const json shape_value = reader.value("shape");
    const json range_value = reader.value("data_offsets");
    ASSAY_TRY(reader.finish());
    const std::uint64_t size = bytes_of_type(entry.type);
    if (size == 0) return malformed(who + " has the type " + entry.type + ", which is not known");
    ASSAY_ASSIGN(entry.shape, unsigned_list(shape_value, who + "'s shape", kMaxRank));
    ASSAY_ASSIGN(const std::vector<std::uint64_t> range,
                 unsigned_list(range_value, who + "'s data_offsets", 2));
    if (range.size() != 2 || range[0] > range[1] || range[1] > data_bytes) {
        return malformed(who + " lies outside the file");
    }
    const auto count = element_count(entry.shape);
    if (!count || range[1] - range[0] != size * *count) {
        return malformed(who + " has a shape that does not fit its " + std::to_string(range[1] - range[0]) +
                         " bytes");
    }
    entry.begin = range[0];
    entry.end = range[1];
    entry.count = *count;
    return entry;
}

base::Outcome<void> read_metadata(const json& value, std::map<std::string, std::string>& out) {
    if (!value.is_object()) return malformed("its metadata is not an object");
    for (const auto& item : value.items()) {
        if (!item.value().is_string()) return malformed("its metadata holds something other than texts");
        out[item.key()] = item.value().get<std::string>();
    }
    return {};
}

/// Every byte of the data belongs to one tensor.
base::Outcome<void> check_cover(const std::vector<SafetensorsEntry>& tensors, std::uint64_t data_bytes) {
    std::uint64_t end = 0;
    for (const SafetensorsEntry& tensor : tensors) {
        if (tensor.begin < end) return malformed("tensor \"" + tensor.name + "\" overlaps the one before");
        if (tensor.begin > end) return malformed("there is a hole before tensor \"" + tensor.name + "\"");
        end = tensor.end;
    }
    if (end != data_bytes) return malformed("there are bytes after its last tensor");
    return {};
}

}  // namespace

base::Outcome<SafetensorsHeader> parse_safetensors_header(base::ByteView beginning,
                                                          std::uint64_t file_bytes) {
    if (file_bytes < 8 || beginning.size() < 8) return malformed("it is shorter than 8 bytes");
    std::uint64_t header_bytes = 0;
    for (std::size_t i = 0; i < 8; ++i) header_bytes |= std::uint64_t{beginning[i]} << (8 * i);
    if (header_bytes > kSafetensorsMaxHeader) return malformed("its header is larger than 100,000,000 bytes");
    if (header_bytes > file_bytes - 8 || header_bytes > beginning.size() - 8)
        return malformed("its header reaches beyond its end");
    const std::string_view text = base::as_text(beginning.subspan(8, header_bytes));
    if (!text.starts_with('{')) return malformed("its header does not begin with '{'");
    ASSAY_ASSIGN(const json header, parse_json(text, "the safetensors header"));
    SafetensorsHeader out;
    out.data_begin = 8 + header_bytes;
    const std::uint64_t data_bytes = file_bytes - out.data_begin;
    for (const auto& item : header.items()) {
        if (item.key() == "__metadata__") {
            ASSAY_TRY(read_metadata(item.value(), out.metadata));
            continue;
        }
        ASSAY_ASSIGN(SafetensorsEntry entry, read_entry(item.key(), item.value(), data_bytes));
        out.tensors.push_back(std::move(entry));
    }
    // Empty tensors come before the one that begins at the same place.
    std::sort(out.tensors.begin(), out.tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    ASSAY_TRY(check_cover(out.tensors, data_bytes));
    return out;
}

}  // namespace assay::trainer
