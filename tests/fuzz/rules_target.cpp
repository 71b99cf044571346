// SPDX-License-Identifier: Apache-2.0
// The rules moved at random (rules_world.hpp). libFuzzer's bytes are the choices. Without libFuzzer:
//   fuzz_rules [SEED [STEPS]]   so many moves from that seed, over many worlds; fails when a type of
//                               transaction, a verdict, a merge, a window, a replay, a slot that nobody
//                               stores, a confirmer of each manner, an odd clip, a witness at the
//                               limit of its length or a withheld link was never reached
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/fuzz/rules_world.hpp"
#include "tests/fuzz/target.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() { return {base::Bytes(2'000, 7), base::Bytes(2'000, 3)}; }

void run(base::ByteView input) {
    Reached reached;
    std::size_t at = 0;
    const Choose choose = [&](std::uint64_t count) {
        std::uint64_t value = 0;
        for (std::uint64_t reach = 1; reach < count && at < input.size(); reach <<= 8)
            value = value << 8 | input[at++];
        return count == 0 ? 0 : value % count;
    };
    RulesWorld world(choose, reached);
    while (at < input.size()) world.move();
}

}  // namespace assay::fuzz

#ifdef ASSAY_FUZZ
extern "C" int LLVMFuzzerInitialize(int*, char***) {
    ASSAY_CHECK(assay::base::start_crypto());
    return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    assay::fuzz::run({data, size});
    return 0;
}
#else
int main(int count, char** arguments) {
    using namespace assay;
    ASSAY_CHECK(base::start_crypto());
    const std::uint64_t seed = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 20261122;
    const std::uint64_t steps = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 45'000;
    constexpr std::uint64_t kMovesOfAWorld = 500;
    fuzz::Reached reached;
    std::uint64_t worlds = 0;
    while (reached.moves < steps) {
        std::mt19937_64 random(seed + worlds++);
        fuzz::RulesWorld world([&](std::uint64_t below) { return random() % below; }, reached);
        for (std::uint64_t move = 0; move < kMovesOfAWorld; ++move) world.move();
    }
    std::printf(
        "seed %llu: %llu moves in %llu worlds, %llu merges, %llu redraws, %llu confirmers, %llu windows, "
        "%llu replays, %llu "
        "unstored, %llu withheld links, %llu games lost and %llu won by claimants, "
        "%llu games of accusers, %llu accusations dropped, %llu slots cleared, %llu merges lost, %llu calls "
        "of who attested them, %llu calls behind a bond, %llu games of who merged otherwise, "
        "%zu refusals, %zu verdicts, %zu ends\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(reached.moves),
        static_cast<unsigned long long>(worlds), static_cast<unsigned long long>(reached.merges),
        static_cast<unsigned long long>(reached.thirds), static_cast<unsigned long long>(reached.confirmers),
        static_cast<unsigned long long>(reached.windows), static_cast<unsigned long long>(reached.replays),
        static_cast<unsigned long long>(reached.unstored),
        static_cast<unsigned long long>(reached.withheld_links),
        static_cast<unsigned long long>(reached.lost_games),
        static_cast<unsigned long long>(reached.won_games),
        static_cast<unsigned long long>(reached.accusations),
        static_cast<unsigned long long>(reached.dropped_accusations),
        static_cast<unsigned long long>(reached.cleared_slots),
        static_cast<unsigned long long>(reached.merge_games),
        static_cast<unsigned long long>(reached.merge_calls),
        static_cast<unsigned long long>(reached.bonded_calls),
        static_cast<unsigned long long>(reached.merge_accusations), reached.refusals.size(),
        reached.verdicts.size(), reached.ends.size());
    std::printf(
        "  confirmers: %llu true, %llu false, %llu closed, %llu unsealed; %llu merges with odd clips and "
        "%llu refused, "
        "%llu games about a clip; %llu witnesses judged, %llu of them at the limit of their length\n",
        static_cast<unsigned long long>(reached.true_confirmations),
        static_cast<unsigned long long>(reached.false_confirmations),
        static_cast<unsigned long long>(reached.closed_confirmations),
        static_cast<unsigned long long>(reached.unsealed_confirmations),
        static_cast<unsigned long long>(reached.odd_clips),
        static_cast<unsigned long long>(reached.refused_clips),
        static_cast<unsigned long long>(reached.clip_games),
        static_cast<unsigned long long>(reached.witnesses),
        static_cast<unsigned long long>(reached.long_witnesses));
    bool all = reached.merges > 0 && reached.thirds > 0 && reached.windows > 0 && reached.replays > 0 &&
               reached.unstored > 0 && reached.withheld_links > 0 && reached.lost_games > 0 &&
               reached.won_games > 0 && reached.accusations > 0 && reached.dropped_accusations > 0 &&
               reached.cleared_slots > 0 && reached.merge_calls > 0 && reached.bonded_calls > 0 &&
               reached.merge_accusations > 0 && reached.true_confirmations > 0 &&
               reached.false_confirmations > 0 && reached.closed_confirmations > 0 &&
               reached.unsealed_confirmations > 0 && reached.odd_clips > 0 && reached.refused_clips > 0 &&
               reached.clip_games > 0 && reached.long_witnesses > 0 && reached.verdicts.size() >= 6 &&
               reached.ends.size() >= 4;
    for (auto type = static_cast<int>(contracts::TxType::kTransfer);
         type <= static_cast<int>(contracts::TxType::kDisputeCall); ++type) {
        const std::string_view name = contracts::to_text(static_cast<contracts::TxType>(type));
        const std::uint64_t applied = reached.applied[static_cast<std::size_t>(type)];
        std::printf("  %-20.*s %llu\n", static_cast<int>(name.size()), name.data(),
                    static_cast<unsigned long long>(applied));
        all = all && applied > 0;
    }
    if (!all) std::printf("something was never reached\n");
    return all ? 0 : 1;
}
#endif
