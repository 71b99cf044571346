// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/state_bytes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"

namespace assay::trainer {

static_assert(std::endian::native == std::endian::little, "arrays are copied as they lie in memory");

namespace {
constexpr std::string_view kBaseMagic = "ABASE001";
constexpr std::string_view kSlotMagic = "ASLOT001";
constexpr std::string_view kAgedSlotMagic = "ASLOT002";

template <class T>
void append(base::Bytes& bytes, const T* data, std::size_t count) {
    const std::size_t at = bytes.size();
    bytes.resize(at + count * sizeof(T));
    if (count > 0) std::memcpy(bytes.data() + at, data, count * sizeof(T));
}

class Reader {
public:
    Reader(base::ByteView bytes, std::string_view kind) : bytes_(bytes), kind_(kind) {}

    base::Outcome<void> expect(std::string_view magic, std::uint64_t length) {
        if (bytes_.size() < magic.size() || base::as_text(bytes_.first(magic.size())) != magic) {
            return refuse("does not begin with " + std::string(magic));
        }
        if (bytes_.size() != length) {
            return refuse("has " + std::to_string(bytes_.size()) + " bytes where this model needs " +
                          std::to_string(length));
        }
        at_ = magic.size();
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

base::Bytes encode_slot_state(const SlotState& state) {
    base::Bytes bytes;
    bytes.reserve(slot_state_bytes(state.parameters.size()) + (state.age ? sizeof(*state.age) : 0));
    const std::string_view magic = state.age ? kAgedSlotMagic : kSlotMagic;
    append(bytes, magic.data(), magic.size());
    append(bytes, &state.step, 1);
    append(bytes, &state.cursor, 1);
    if (state.age) append(bytes, &*state.age, 1);
    append(bytes, state.parameters.data(), state.parameters.size());
    append(bytes, state.first_moment.data(), state.first_moment.size());
    append(bytes, state.second_moment.data(), state.second_moment.size());
    return bytes;
}

base::Bytes encode_update(const Update& update, const program::JobSpec& spec) {
    const program::StrategyRow& row = program::strategy_of(spec);
    base::Bytes bytes(row.update_file_bytes(update.values.size()));
    const std::string_view magic = row.codec->magic;
    std::copy(magic.begin(), magic.end(), bytes.begin());
    ASSAY_CHECK(row.codec->pack(program::round_settings(spec), update.values,
                                std::span(bytes).subspan(magic.size())));
    return bytes;
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

base::Outcome<SlotState> decode_slot_state(base::ByteView bytes, std::uint64_t parameters) {
    ASSAY_ASSIGN(auto state, decode_claimed_slot_state(bytes, parameters));
    ASSAY_TRY(Reader::check_finite("slot state", "parameters", state.parameters));
    ASSAY_TRY(Reader::check_finite("slot state", "first moment", state.first_moment));
    ASSAY_TRY(Reader::check_finite("slot state", "second moment", state.second_moment));
    return state;
}

base::Outcome<SlotState> decode_claimed_slot_state(base::ByteView bytes, std::uint64_t parameters) {
    Reader reader(bytes, "slot state");
    const bool aged = bytes.size() >= kAgedSlotMagic.size() &&
                      base::as_text(bytes.first(kAgedSlotMagic.size())) == kAgedSlotMagic;
    SlotState state;
    if (aged) state.age = 0;
    const std::uint64_t length = slot_state_bytes(parameters) + (aged ? sizeof(*state.age) : 0);
    ASSAY_TRY(reader.expect(aged ? kAgedSlotMagic : kSlotMagic, length));
    reader.take(&state.step, 1);
    reader.take(&state.cursor, 1);
    if (aged) reader.take(&*state.age, 1);
    for (std::vector<float>* values : {&state.parameters, &state.first_moment, &state.second_moment}) {
        values->resize(parameters);
        reader.take(values->data(), parameters);
    }
    return state;
}

base::Outcome<Update> decode_update(base::ByteView bytes, std::uint64_t parameters,
                                    const program::JobSpec& spec) {
    const program::StrategyRow& row = program::strategy_of(spec);
    const std::string_view magic = row.codec->magic;
    Reader reader(bytes, "update");
    ASSAY_TRY(reader.expect(magic, row.update_file_bytes(parameters)));
    Update update;
    update.values.resize(parameters);
    if (!row.codec->decode(program::round_settings(spec), bytes.subspan(magic.size()), update.values)) {
        return reader.refuse("has a number that codec " + std::string(row.codec->word) + " never writes");
    }
    return update;
}

}  // namespace assay::trainer
