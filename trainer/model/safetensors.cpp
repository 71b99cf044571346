// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "contracts/base/check.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxRank = 8;

base::Failed<base::Error> refuse(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "the safetensors file cannot be used: " + what,
                      "fetch or export the model again");
}

/// Product of the dimensions; nothing when it does not fit the 2^61 floats that 64-bit offsets can reach.
std::optional<std::uint64_t> element_count(const std::vector<std::uint64_t>& shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : shape) {
        if (size != 0 && count > (std::uint64_t{1} << 61) / size) return std::nullopt;
        count *= size;
    }
    return count;
}

base::Outcome<std::vector<std::uint64_t>> unsigned_list(const json& value, const std::string& what,
                                                        std::size_t most) {
    if (!value.is_array() || value.size() > most) return refuse(what + " is not a short list");
    std::vector<std::uint64_t> numbers;
    for (const json& item : value) {
        if (!item.is_number_unsigned()) return refuse(what + " holds something other than whole numbers");
        numbers.push_back(item.get<std::uint64_t>());
    }
    return numbers;
}

/// One entry of the header, checked against its own shape; `data_bytes` bounds its range.
base::Outcome<SafetensorsEntry> read_entry(const std::string& name, const json& value,
                                           std::uint64_t data_bytes) {
    const std::string who = "tensor \"" + name + "\"";
    ObjectReader reader(value, who);
    const std::string type = reader.text("dtype");
    const json shape_value = reader.value("shape");
    const json range_value = reader.value("data_offsets");
    ASSAY_TRY(reader.finish());
    if (type != "F32") return refuse(who + " has the type " + type + "; only F32 is read");
    SafetensorsEntry entry;
    entry.name = name;
    ASSAY_ASSIGN(entry.shape, unsigned_list(shape_value, who + "'s shape", kMaxRank));
    ASSAY_ASSIGN(const std::vector<std::uint64_t> range,
                 unsigned_list(range_value, who + "'s data_offsets", 2));
    if (range.size() != 2 || range[0] > range[1] || range[1] > data_bytes) {
        return refuse(who + " lies outside the file");
    }
    const auto count = element_count(entry.shape);
    if (!count || range[1] - range[0] != 4 * *count) {
        return refuse(who + " has a shape that does not fit its " + std::to_string(range[1] - range[0]) +
                      " bytes");
    }
    if (range[0] % 4 != 0) return refuse(who + " does not begin at a multiple of 4 bytes");
    entry.offset = range[0] / 4;
    entry.count = *count;
    return entry;
}

base::Outcome<void> read_metadata(const json& value, std::map<std::string, std::string>& out) {
    if (!value.is_object()) return refuse("its metadata is not an object");
    for (const auto& item : value.items()) {
        if (!item.value().is_string()) return refuse("its metadata holds something other than texts");
        out[item.key()] = item.value().get<std::string>();
    }
    return {};
}

std::vector<float> floats_of(base::ByteView data) {
    std::vector<float> out(data.size() / 4);
    for (std::size_t i = 0; i < out.size(); ++i) {
        std::uint32_t bits = 0;
        for (std::size_t b = 0; b < 4; ++b) bits |= std::uint32_t{data[4 * i + b]} << (8 * b);
        out[i] = std::bit_cast<float>(bits);
    }
    return out;
}

}  // namespace

base::Bytes safetensors_bytes(std::vector<SafetensorsEntry> tensors, std::span<const float> data) {
    std::sort(tensors.begin(), tensors.end(),
              [](const SafetensorsEntry& a, const SafetensorsEntry& b) { return a.name < b.name; });
    ordered_json header;
    header["__metadata__"] = {{"format", "pt"}};
    std::uint64_t end = 0;
    for (const SafetensorsEntry& tensor : tensors) {
        ASSAY_CHECK(element_count(tensor.shape) == tensor.count);
        ASSAY_CHECK(tensor.offset <= data.size() && tensor.count <= data.size() - tensor.offset);
        ASSAY_CHECK(!header.contains(tensor.name));
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {end, end + 4 * tensor.count}}};
        end += 4 * tensor.count;
    }
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    base::Bytes out;
    out.reserve(8 + text.size() + static_cast<std::size_t>(end));
    for (std::size_t i = 0; i < 8; ++i) {
        out.push_back(static_cast<std::uint8_t>((std::uint64_t{text.size()} >> (8 * i)) & 0xffU));
    }
    out.insert(out.end(), text.begin(), text.end());
    for (const SafetensorsEntry& tensor : tensors) {
        for (const float value : data.subspan(tensor.offset, tensor.count)) {
            const auto bits = std::bit_cast<std::uint32_t>(value);
            for (std::size_t b = 0; b < 4; ++b) {
                out.push_back(static_cast<std::uint8_t>((bits >> (8 * b)) & 0xffU));
            }
        }
    }
    return out;
}

base::Outcome<SafetensorsFile> parse_safetensors(base::ByteView file) {
    if (file.size() < 8) return refuse("it is shorter than 8 bytes");
    std::uint64_t header_size = 0;
    for (std::size_t i = 0; i < 8; ++i) header_size |= std::uint64_t{file[i]} << (8 * i);
    if (header_size > kSafetensorsMaxHeader) return refuse("its header is larger than 100,000,000 bytes");
    if (header_size > file.size() - 8) return refuse("its header reaches beyond its end");
    const std::string_view text = base::as_text(file.subspan(8, header_size));
    if (!text.starts_with('{')) return refuse("its header does not begin with '{'");
    const base::ByteView data = file.subspan(8 + header_size);
    ASSAY_ASSIGN(const json header, parse_json(text, "the safetensors header"));
    SafetensorsFile out;
    for (const auto& item : header.items()) {
        if (item.key() == "__metadata__") {
            ASSAY_TRY(read_metadata(item.value(), out.metadata));
            continue;
        }
        ASSAY_ASSIGN(SafetensorsEntry entry, read_entry(item.key(), item.value(), data.size()));
        out.tensors.push_back(std::move(entry));
    }
    // Empty tensors come before the one that begins at the same place.
    std::sort(out.tensors.begin(), out.tensors.end(), [](const auto& a, const auto& b) {
        return std::tie(a.offset, a.count, a.name) < std::tie(b.offset, b.count, b.name);
    });
    std::uint64_t end = 0;
    for (const SafetensorsEntry& tensor : out.tensors) {
        if (tensor.offset < end) return refuse("tensor \"" + tensor.name + "\" overlaps the one before");
        if (tensor.offset > end) return refuse("there is a hole before tensor \"" + tensor.name + "\"");
        end += tensor.count;
    }
    if (4 * end != data.size()) return refuse("there are bytes after its last tensor");
    out.data = floats_of(data);
    return out;
}

}  // namespace assay::trainer
