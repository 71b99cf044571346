// SPDX-License-Identifier: Apache-2.0
// The known answers of tests/vectors/personal_hashes.txt, which a Python script made.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "contracts/base/check.hpp"
#include "contracts/base/hash.hpp"

namespace assay::test {

struct PersonalVector {
    std::string name;
    base::Personal personal;
    base::Bytes message;
    base::Hash256 digest;
};

/// Byte i of a known answer's message of so many bytes.
inline std::uint8_t known_byte(std::size_t i, std::size_t length) {
    return static_cast<std::uint8_t>((i * 7 + length) % 251);
}

inline base::Bytes known_message(std::size_t length) {
    base::Bytes message(length);
    for (std::size_t i = 0; i < length; ++i) message[i] = known_byte(i, length);
    return message;
}

/// Lines "KIND NAME LENGTH DIGEST" of one kind, in order.
template <class Take>
void for_known(const std::string& kind, Take take) {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    std::ifstream file(std::string(source == nullptr ? "." : source) + "/tests/vectors/personal_hashes.txt");
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string found, name, digest;
        std::size_t length = 0;
        words >> found >> name >> length >> digest;
        if (found != kind) continue;
        const auto hash = base::parse_hash(digest);
        ASSAY_CHECK(hash.has_value());
        take(name, length, *hash);
    }
}

inline std::vector<PersonalVector> personal_vectors() {
    std::vector<PersonalVector> out;
    for_known("hash", [&out](const std::string& name, std::size_t length, const base::Hash256& digest) {
        out.push_back({name, base::Personal(name), known_message(length), digest});
    });
    return out;
}

}  // namespace assay::test
