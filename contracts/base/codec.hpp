// SPDX-License-Identifier: Apache-2.0
// The canonical encoding of everything that is hashed, signed, stored or sent: little-endian integers, u32
// lengths, no padding, no alternative forms. Each value has exactly one encoding; decoding refuses all
// others.
//
// A record names its fields once, in order, and encoding and decoding follow from it:
//     struct Header {
//         std::uint64_t height = 0;
//         Hash256 parent;
//         template <class Self, class V> static void fields(Self& self, V& visit) {
//             visit(self.height, self.parent);
//         }
//     };
//     Bytes bytes = encode(header);
//     Result<Header, DecodeError> back = decode<Header>(bytes);
//
// Field types: bool (0 or 1), fixed-width integers, enums with a contiguous range (see EnumLast), Hash256,
// PublicKey, Signature, Amount, std::string (UTF-8), Bytes, std::vector, std::optional, std::array of bytes,
// std::map with strictly ascending keys, std::pair, and records.
#pragma once

#include <array>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/bytes.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/base/result.hpp"
#include "contracts/base/sign.hpp"

namespace assay::base {

/// Why bytes are not the canonical encoding of the wanted type. Frozen numbers.
enum class DecodeError : std::uint8_t {
    kTruncated = 1,       ///< the bytes end inside a field
    kTrailingBytes = 2,   ///< bytes are left after the last field
    kBadBool = 3,         ///< a flag byte other than 0 and 1
    kBadEnum = 4,         ///< an enumerator that does not exist
    kTooLong = 5,         ///< a length above what follows, or above the field's limit
    kNotUtf8 = 6,         ///< a string that is not UTF-8
    kUnsortedKeys = 7,    ///< map keys not strictly ascending
    kAmountTooLarge = 8,  ///< an amount above kAmountMax
    kBadVariant = 9,      ///< a transaction or message kind that does not exist
};

std::string_view to_text(DecodeError error);

/// Specialise this for every enum that is encoded: `first` and `last` are its smallest and largest
/// enumerator. Every value between them must exist, except the numbers in `retired`, if there are any.
template <class E>
struct EnumRange;  // { static constexpr E first = …; static constexpr E last = …; }

/// Whether the enum has an enumerator of this number.
template <class E>
constexpr bool is_enumerator(std::underlying_type_t<E> number) {
    using Range = EnumRange<E>;
    if (number < static_cast<std::underlying_type_t<E>>(Range::first)) return false;
    if (number > static_cast<std::underlying_type_t<E>>(Range::last)) return false;
    if constexpr (requires { Range::retired; }) {
        for (const auto retired : Range::retired)
            if (number == retired) return false;
    }
    return true;
}

/// Appends canonical bytes.
class Encoder {
public:
    template <class... T>
    void operator()(const T&... values) {
        (put(values), ...);
    }
    void raw(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
    [[nodiscard]] Bytes take() && { return std::move(out_); }

private:
    template <std::integral T>
    void put(const T& value) {
        using Unsigned = std::make_unsigned_t<std::conditional_t<std::same_as<T, bool>, std::uint8_t, T>>;
        auto bits = static_cast<Unsigned>(value);
        for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
            out_.push_back(static_cast<std::uint8_t>(bits & 0xffU));
            if constexpr (sizeof(Unsigned) > 1) bits = static_cast<Unsigned>(bits >> 8);
        }
    }
    template <class E>
    requires std::is_enum_v<E>
    void put(const E& value) { put(static_cast<std::underlying_type_t<E>>(value)); }
    void put(const Hash256& value) { raw(value.view()); }
    void put(const PublicKey& value) { raw(value.view()); }
    void put(const Signature& value) { raw(value.bytes); }
    void put(const Amount& value) { put(value.units()); }
    void put(const std::string& value) {
        put_length(value.size());
        raw(as_bytes(value));
    }
    void put(const Bytes& value) {
        put_length(value.size());
        raw(value);
    }
    template <std::size_t N>
    void put(const std::array<std::uint8_t, N>& value) {
        raw(value);
    }
    template <class T>
    requires(!std::same_as<T, std::uint8_t>) void put(const std::vector<T>& values) {
        put_length(values.size());
        for (const T& value : values) put(value);
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class K, class T>
    void put(const std::map<K, T>& values) {
        put_length(values.size());
        for (const auto& [key, value] : values) {
            put(key);
            put(value);
        }
    }
    template <class A, class B>
    void put(const std::pair<A, B>& value) {
        put(value.first);
        put(value.second);
    }
    template <class R>
    requires std::is_class_v<R> && requires(const R& r, Encoder& e) { R::fields(r, e); }
    void put(const R& record) { R::fields(record, *this); }
    void put_length(std::size_t size) {
        ASSAY_CHECK(size <= 0xffffffffU);
        put(static_cast<std::uint32_t>(size));
    }

    Bytes out_;
};

/// Reads canonical bytes. After the first error every further read leaves its target unchanged.
class Decoder {
public:
    explicit Decoder(ByteView bytes) : rest_(bytes) {}

    template <class... T>
    void operator()(T&... values) {
        (get(values), ...);
    }
    [[nodiscard]] std::optional<DecodeError> error() const { return error_; }
    [[nodiscard]] ByteView rest() const { return rest_; }
    /// Records an error that the caller found, unless one is already recorded.
    void refuse(DecodeError error) {
        if (!error_) error_ = error;
    }
    /// The next `size` bytes; empty and an error when fewer are left.
    ByteView raw(std::size_t size) {
        if (error_ || size > rest_.size()) {
            refuse(DecodeError::kTruncated);
            return {};
        }
        const ByteView taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }

private:
    template <std::integral T>
    void get(T& value) {
        if constexpr (std::same_as<T, bool>) {
            std::uint8_t flag = 0;
            get(flag);
            if (flag > 1) refuse(DecodeError::kBadBool);
            if (!error_) value = flag == 1;
        } else {
            using Unsigned = std::make_unsigned_t<T>;
            const ByteView bytes = raw(sizeof(T));
            if (error_) return;
            std::uint64_t bits = 0;
            for (std::size_t i = 0; i < sizeof(T); ++i) bits |= std::uint64_t{bytes[i]} << (8 * i);
            value = static_cast<T>(static_cast<Unsigned>(bits));
        }
    }
    template <class E>
    requires std::is_enum_v<E>
    void get(E& value) {
        std::underlying_type_t<E> number{};
        get(number);
        if (error_) return;
        if (!is_enumerator<E>(number)) return refuse(DecodeError::kBadEnum);
        value = static_cast<E>(number);
    }
    void get(Hash256& value) { get(value.bytes); }
    void get(PublicKey& value) { get(value.bytes); }
    void get(Signature& value) { get(value.bytes); }
    void get(Amount& value) {
        std::uint64_t count = 0;
        get(count);
        if (error_) return;
        const auto amount = Amount::of(count);
        if (!amount) return refuse(DecodeError::kAmountTooLarge);
        value = *amount;
    }
    void get(std::string& value) {
        const ByteView bytes = raw(get_length(1));
        if (error_) return;
        if (!is_utf8(as_text(bytes))) return refuse(DecodeError::kNotUtf8);
        value.assign(as_text(bytes));
    }
    void get(Bytes& value) {
        const ByteView bytes = raw(get_length(1));
        if (!error_) value = to_bytes(bytes);
    }
    template <std::size_t N>
    void get(std::array<std::uint8_t, N>& value) {
        const ByteView bytes = raw(N);
        if (!error_) std::copy(bytes.begin(), bytes.end(), value.begin());
    }
    template <class T>
    requires(!std::same_as<T, std::uint8_t>) void get(std::vector<T>& values) {
        const std::size_t count = get_length(1);
        values.clear();
        for (std::size_t i = 0; i < count && !error_; ++i) {
            T value{};
            get(value);
            values.push_back(std::move(value));
        }
    }
    template <class T>
    void get(std::optional<T>& value) {
        bool present = false;
        get(present);
        value.reset();
        if (error_ || !present) return;
        T inner{};
        get(inner);
        if (!error_) value = std::move(inner);
    }
    template <class K, class T>
    void get(std::map<K, T>& values) {
        const std::size_t count = get_length(1);
        values.clear();
        for (std::size_t i = 0; i < count && !error_; ++i) {
            K key{};
            T value{};
            get(key);
            get(value);
            if (error_) return;
            if (!values.empty() && !(values.rbegin()->first < key)) return refuse(DecodeError::kUnsortedKeys);
            values.emplace_hint(values.end(), std::move(key), std::move(value));
        }
    }
    template <class A, class B>
    void get(std::pair<A, B>& value) {
        get(value.first);
        get(value.second);
    }
    template <class R>
    requires std::is_class_v<R> && requires(R& r, Decoder& d) { R::fields(r, d); }
    void get(R& record) { R::fields(record, *this); }
    // A count can never exceed what is left, so that a false length allocates nothing.
    std::size_t get_length(std::size_t bytes_each_at_least) {
        std::uint32_t length = 0;
        get(length);
        if (error_) return 0;
        if (length > rest_.size() / bytes_each_at_least) {
            refuse(DecodeError::kTooLong);
            return 0;
        }
        return length;
    }

    ByteView rest_;
    std::optional<DecodeError> error_;
};

template <class T>
Bytes encode(const T& value) {
    Encoder encoder;
    encoder(value);
    return std::move(encoder).take();
}

/// The T that `bytes` encodes, all of them.
template <class T>
Result<T, DecodeError> decode(ByteView bytes) {
    Decoder decoder(bytes);
    T value{};
    decoder(value);
    if (decoder.error()) return failed(*decoder.error());
    if (!decoder.rest().empty()) return failed(DecodeError::kTrailingBytes);
    return value;
}

}  // namespace assay::base

/// ASSAY_ENUM_RANGE(Enum, kFirst, kLast) specialises EnumRange. Use it inside namespace assay::base.
#define ASSAY_ENUM_RANGE(type, first_, last_)       \
    template <>                                     \
    struct EnumRange<type> {                        \
        static constexpr type first = type::first_; \
        static constexpr type last = type::last_;   \
    }

/// The same for an enum without the listed numbers between its first and its last.
#define ASSAY_ENUM_RANGE_WITHOUT(type, first_, last_, ...)                       \
    template <>                                                                  \
    struct EnumRange<type> {                                                     \
        static constexpr type first = type::first_;                              \
        static constexpr type last = type::last_;                                \
        static constexpr std::underlying_type_t<type> retired[] = {__VA_ARGS__}; \
    }
