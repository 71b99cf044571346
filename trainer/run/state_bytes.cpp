// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/state_bytes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

namespace {
constexpr std::string_view kBaseMagic = "ABASE001";

template <class T>
void append(base::Bytes& bytes, const T* data, std::size_t count) {
    const std::size_t at = bytes.size();
    bytes.resize(at + count * sizeof(T));
    if (count > 0) std::memcpy(bytes.data() + at, data, count * sizeof(T));
}

class Reader {
public:
    Reader(base::ByteView bytes, std::string_view kind) : bytes_(bytes), kind_(kind) {}

    base::Outcome<void> expect(std::string_view magic) {
        if (bytes_.size() < magic.size() || base::as_text(bytes_.first(magic.size())) != magic) {
            return refuse("does not begin with " + std::string(magic));
        }
        at_ = magic.size();
        return {};
    }
    base::Outcome<void> expect(std::string_view magic, std::uint64_t length) {
        ASSAY_TRY(expect(magic));
        if (bytes_.size() != length) {
            return refuse("has " + std::to_string(bytes_.size()) + " bytes where this model needs " +
                          std::to_string(length));
        }
        return {};
    }
    template <class T>
    void take(T* data, std::size_t count) {
        if (count > 0) std::memcpy(data, bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
    }
    base::Outcome<void> take_floats(std::vector<float>& values, std::uint64_t count, std::string_view name) {
        values.resize(count);
        take(values.data(), count);
        return check_finite(kind_, name, values);
    }
    [[nodiscard]] base::Failed<base::Error> refuse(const std::string& why) const {
        return refused(kind_, why);
    }
    static base::Outcome<void> check_finite(std::string_view kind, std::string_view name,
                                            const std::vector<float>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
                return refused(kind, "has a number that is not finite: " + std::string(name) + ", element " +
                                         std::to_string(i));
            }
        }
        return {};
    }

private:
    static base::Failed<base::Error> refused(std::string_view kind, const std::string& why) {
        return base::fail(base::ErrorKind::kFailure, std::string(kind) + " " + why,
                          "fetch the file again, or ask whoever made it");
    }
    base::ByteView bytes_;
    std::string_view kind_;
    std::size_t at_ = 0;
};
}  // namespace

base::Bytes encode_base_state(const BaseState& state) {
    base::Bytes bytes;
    bytes.reserve(base_state_bytes(state.parameters.size()));
    append(bytes, kBaseMagic.data(), kBaseMagic.size());
    append(bytes, &state.step, 1);
    append(bytes, state.parameters.data(), state.parameters.size());
    append(bytes, state.outer_momentum.data(), state.outer_momentum.size());
    return bytes;
}

base::ByteView array_file(const std::vector<float>& values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)};
}

namespace {
template <class State>
auto& find_array(State& state, program::StateArray array) {
    switch (array) {
        case program::StateArray::kParameters: return state.parameters;
        case program::StateArray::kFirstMoment: return state.first_moment;
        case program::StateArray::kSecondMoment: return state.second_moment;
        default: break;
    }
    ASSAY_CHECK(false);
}
}  // namespace

std::vector<float>& array_of(SlotState& state, program::StateArray array) { return find_array(state, array); }
const std::vector<float>& array_of(const SlotState& state, program::StateArray array) {
    return find_array(state, array);
}

program::StateHead slot_head(const SlotState& state, const program::StateRoots& roots,
                             std::span<const program::StateArray> arrays) {
    program::StateHead head{.step = state.step, .cursor = state.cursor, .age = state.age, .parts = {}};
    for (const program::StateArray array : arrays) {
        head.parts.push_back(
            {array, program::root_of(roots, array), base::blob_id(array_file(array_of(state, array)))});
    }
    return head;
}

base::Bytes encode_update(const Update& update, const program::UpdateCodec& codec,
                          const program::RoundSettings& settings) {
    const std::string_view magic = codec.magic;
    base::Bytes bytes(magic.size() + codec.most_bytes(update.values.size()));
    std::copy(magic.begin(), magic.end(), bytes.begin());
    const auto packed = codec.pack(settings, update.values, std::span(bytes).subspan(magic.size()));
    ASSAY_CHECK(packed && *packed <= bytes.size() - magic.size());
    bytes.resize(magic.size() + *packed);
    return bytes;
}

base::Bytes encode_update(const Update& update, const program::JobSpec& spec) {
    return encode_update(update, *program::strategy_of(spec).codec, program::round_settings(spec));
}

base::Outcome<BaseState> decode_base_state(base::ByteView bytes, std::uint64_t parameters) {
    Reader reader(bytes, "base state");
    ASSAY_TRY(reader.expect(kBaseMagic, base_state_bytes(parameters)));
    BaseState state;
    reader.take(&state.step, 1);
    ASSAY_TRY(reader.take_floats(state.parameters, parameters, "parameters"));
    ASSAY_TRY(reader.take_floats(state.outer_momentum, parameters, "outer momentum"));
    return state;
}

base::Outcome<std::vector<float>> decode_array(base::ByteView bytes, std::uint64_t parameters) {
    if (bytes.size() != program::array_bytes(parameters)) {
        return base::fail(base::ErrorKind::kFailure,
                          "array has " + std::to_string(bytes.size()) + " bytes where this model needs " +
                              std::to_string(program::array_bytes(parameters)),
                          "fetch the file again, or ask whoever made it");
    }
    std::vector<float> values(parameters);
    if (parameters > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

SlotState counters_of(const program::StateHead& head) {
    SlotState state;
    state.step = head.step;
    state.cursor = head.cursor;
    state.age = head.age;
    return state;
}

base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::UpdateCodec& codec,
                                    const program::RoundSettings& settings) {
    Reader reader(bytes, "update");
    ASSAY_TRY(reader.expect(codec.magic));
    const std::uint64_t most = codec.magic.size() + codec.most_bytes(parameters);
    const std::string length = "has " + std::to_string(bytes.size()) + " bytes";
    const std::string word(codec.word);
    if (bytes.size() > most)
        return reader.refuse(length + " where codec " + word + " writes at most " + std::to_string(most));
    Update update;
    update.values.resize(parameters);
    const auto fault = codec.decode(settings, bytes.subspan(codec.magic.size()), update.values);
    if (!fault) return update;
    if (*fault == program::PackedFault::kLength)
        return reader.refuse(length + ", which is no length that codec " + word + " gives this model");
    return reader.refuse("has a number that codec " + word + " never writes");
}

base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::JobSpec& spec) {
    return decode_update(bytes, parameters, *program::strategy_of(spec).codec, program::round_settings(spec));
}

}  // namespace assay::trainer
