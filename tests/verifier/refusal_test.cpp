// SPDX-License-Identifier: Apache-2.0
// An error of the worker as the frame that carries it.
#include "contracts/worker/frames.hpp"
#include "node/worker/program/job.hpp"
#include "tests/support/catch.hpp"

using namespace assay;

TEST_CASE("a fix that the frame does not hold is cut between two characters, and the frame holds it") {
    constexpr std::size_t kMax = worker::kMaxFix;
    const auto fix_of = [](const std::string& fix) {
        return verifier::to_refusal({base::ErrorKind::kPreflight, "what", fix}).fix;
    };
    CHECK(fix_of("") == "");
    CHECK(fix_of(std::string(kMax, 'f')) == std::string(kMax, 'f'));
    CHECK(fix_of(std::string(kMax + 1, 'f')) == std::string(kMax, 'f'));
    // Two, three and four bytes that lie across the limit, by each number of bytes that they can.
    for (const std::string character : {"\u00e9", "\u20ac", "\U0001d11e"}) {
        for (std::size_t inside = 1; inside < character.size(); ++inside) {
            const std::string before(kMax - inside, 'f');
            CHECK(fix_of(before + character + "and more") == before);
        }
        const std::string fits = std::string(kMax - character.size(), 'f') + character;
        CHECK(fix_of(fits + "and more") == fits);
    }
}
