// SPDX-License-Identifier: Apache-2.0
// Gives views Obstacle, one thing that keeps a job, a miner or a verifier from success, with its token and
// its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace assay::node {

struct Obstacle {
    std::string token;  ///< stable; docs/market.md and docs/concepts/verify.md list them
    std::string text;
    // Only for obstacles with a number.
    std::optional<std::uint64_t> needs, has;
    std::string unit;  ///< "lots", "base units", "GiB", "bits of speed", "owners", "blocks"; empty: no number

    template <class Visit>
    void fields(Visit& visit) const {
        visit("token", token);
        visit("text", text);
        visit("needs", needs);
        visit("has", has);
        visit("unit", unit);
    }
};

/// An obstacle without a number, and one with.
inline Obstacle plain(const char* token, std::string text) { return {token, std::move(text), {}, {}, ""}; }
inline Obstacle lacking(const char* token, std::string text, std::uint64_t needs, std::uint64_t has,
                        const char* unit) {
    return {token, std::move(text), needs, has, unit};
}

}  // namespace assay::node
