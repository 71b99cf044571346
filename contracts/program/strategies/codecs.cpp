// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/strategies/codecs.hpp"

#include "contracts/arithmetic/half.hpp"
#include "contracts/arithmetic/update.hpp"

namespace assay::program {

namespace {

constexpr std::int64_t kBeyond = std::int64_t{1} << 62;

bool finalise_int64(const RoundSettings& settings, std::span<const float> start, std::span<const float> end,
                    std::span<std::int64_t> update) {
    return arithmetic::update_finalise(settings.sum_exponent, start, end, update);
}

template <class Unsigned>
void write(Unsigned bits, std::uint8_t* out) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) out[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

template <class Unsigned>
Unsigned read(const std::uint8_t* bytes) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
    return static_cast<Unsigned>(bits);
}

bool is_whole(std::int64_t number) { return number < kBeyond && number > -kBeyond; }

std::uint64_t most_int64(std::uint64_t parameters) { return 8 * parameters; }

std::optional<std::uint64_t> pack_int64(const RoundSettings&, std::span<const std::int64_t> update,
                                        std::span<std::uint8_t> packed) {
    bool whole = true;
    for (std::size_t i = 0; i < update.size(); ++i) {
        whole &= is_whole(update[i]);
        write(static_cast<std::uint64_t>(update[i]), packed.data() + 8 * i);
    }
    return whole ? std::optional(most_int64(update.size())) : std::nullopt;
}

std::optional<PackedFault> decode_int64(const RoundSettings&, base::ByteView packed,
                                        std::span<std::int64_t> update) {
    if (packed.size() != most_int64(update.size())) return PackedFault::kLength;
    bool whole = true;
    for (std::size_t i = 0; i < update.size(); ++i) {
        update[i] = static_cast<std::int64_t>(read<std::uint64_t>(packed.data() + 8 * i));
        whole &= is_whole(update[i]);
    }
    return whole ? std::nullopt : std::optional(PackedFault::kNumber);
}

bool finalise_half(const RoundSettings& settings, std::span<const float> start, std::span<const float> end,
                   std::span<std::int64_t> update) {
    return arithmetic::half_finalise(settings.sum_exponent, start, end, update);
}

std::uint64_t most_half(std::uint64_t parameters) { return 2 * parameters; }

std::optional<std::uint64_t> pack_half(const RoundSettings& settings, std::span<const std::int64_t> update,
                                       std::span<std::uint8_t> packed) {
    for (std::size_t i = 0; i < update.size(); ++i) {
        const auto half = arithmetic::half_with_value(update[i], settings.sum_exponent);
        if (!half) return std::nullopt;
        write(*half, packed.data() + 2 * i);
    }
    return most_half(update.size());
}

std::optional<PackedFault> decode_half(const RoundSettings& settings, base::ByteView packed,
                                       std::span<std::int64_t> update) {
    if (packed.size() != most_half(update.size())) return PackedFault::kLength;
    for (std::size_t i = 0; i < update.size(); ++i) {
        const auto value =
            arithmetic::half_value(read<std::uint16_t>(packed.data() + 2 * i), settings.sum_exponent);
        if (!value) return PackedFault::kNumber;
        update[i] = *value;
    }
    return std::nullopt;
}

}  // namespace

constexpr UpdateCodec kInt64Codec{.word = "int64",
                                  .magic = "AUPDT001",
                                  .exponents = {-64, 0},
                                  .most_bytes = most_int64,
                                  .finalise = finalise_int64,
                                  .pack = pack_int64,
                                  .decode = decode_int64};

constexpr UpdateCodec kHalfCodec{.word = "fp16",
                                 .magic = "AHALF001",
                                 .exponents = {arithmetic::kLeastHalfExponent, arithmetic::kMostHalfExponent},
                                 .most_bytes = most_half,
                                 .finalise = finalise_half,
                                 .pack = pack_half,
                                 .decode = decode_half};

std::uint64_t packed_width(const UpdateCodec& codec) {
    if (codec.decode == decode_int64) return most_int64(1);
    if (codec.decode == decode_half) return most_half(1);
    return 0;
}

}  // namespace assay::program
