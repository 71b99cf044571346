// SPDX-License-Identifier: Apache-2.0
// One answer to one job: what `assay plan` says before anything is paid is what the ledger will say.
#include <cmath>
#include <functional>
#include <limits>

#include "contracts/program/spec_check.hpp"
#include "contracts/rules/job/costs.hpp"
#include "node/config/job_keys.hpp"
#include "node/processes/purchase.hpp"
#include "tests/node/cli/judges.hpp"
#include "tests/support/properties.hpp"

namespace assay::test {

using contracts::Reason;
using program::FieldValue;
using program::Float32;
using program::JobSpec;
using program::Limit;
using program::Quantity;

namespace {

struct Asked {
    const char* what;
    std::function<void(JobSpec&)> make;
    bool accepted;
    const char* key;  ///< that a refusal names
};

// Jobs on which plan and ledger once differed stand first.
const std::vector<Asked> kAsked = {
    {"64 slots of 401 units",
     [](JobSpec& s) { s.slots = 64, s.train.inner_steps = 400, s.security.segment_steps = 1; }, false,
     "security.segment_steps = 1"},
    {"64 slots of 129 units",
     [](JobSpec& s) { s.slots = 64, s.train.inner_steps = 128, s.security.segment_steps = 1; }, false,
     "security.segment_steps = 1"},
    {"64 slots of 128 units",
     [](JobSpec& s) { s.slots = 64, s.train.inner_steps = 127, s.security.segment_steps = 1; }, true, ""},
    {"257 segments", [](JobSpec& s) { s.train.inner_steps = 257, s.security.segment_steps = 1; }, false,
     "security.segment_steps = 1"},
    {"256 segments", [](JobSpec& s) { s.train.inner_steps = 256, s.security.segment_steps = 1; }, true, ""},
    {"a vocabulary of 256", [](JobSpec& s) { s.model.vocabulary = 256; }, true, ""},
    {"a vocabulary beyond 16 bits", [](JobSpec& s) { s.model.vocabulary = 128'256; }, true, ""},
    {"a seed that JSON does not hold", [](JobSpec& s) { s.seed = (1ULL << 53) + 1; }, false, "job.seed"},
    {"more tokens than a token file holds", [](JobSpec& s) { s.data.train_tokens = 1ULL << 31; }, false,
     "manifest"},
    {"a budget below one round", [](JobSpec& s) { s.market.budget = base::units(1); }, false,
     "market.budget"},
    {"a price beyond money",
     [](JobSpec& s) { s.market.max_price = base::Amount::of(base::kAmountMax).value(); }, false,
     "market.max_price"},
    {"a bond beyond money", [](JobSpec& s) { s.security.audit_threshold = 1; }, false, "security.q"},
    {"a bond beyond money by the rate of finalise", [](JobSpec& s) { s.security.finalise_threshold = 1; },
     false, "security.finalise_q"},
    {"a rate of finalise below that of the segments",
     [](JobSpec& s) { s.security.finalise_threshold = 1ULL << 62, s.security.audit_threshold = 1ULL << 63; },
     true, ""},
    {"a rate of finalise above that of the segments",
     [](JobSpec& s) { s.security.finalise_threshold = 1ULL << 63, s.security.audit_threshold = 1ULL << 62; },
     true, ""},
};

/// Gives a field of the spec a value; false when no spec can hold it.
bool set_field(JobSpec& spec, const Limit& limit, const FieldValue& value) {
    const auto* const whole = std::get_if<std::uint64_t>(&value);
    if (limit.error == program::SpecError::kTrainTokens) return spec.data.train_tokens = *whole, true;
    if (limit.error == program::SpecError::kHeldOutTokens) return spec.data.held_out_tokens = *whole, true;
    if (limit.quantity == Quantity::kBytes) return spec.name = std::string(*whole, 'a'), true;
    if (limit.error == program::SpecError::kFinaliseThreshold)
        return spec.security.finalise_threshold = *whole, true;
    if (limit.quantity == Quantity::kRate) return spec.security.audit_threshold = *whole, true;
    node::JobFile job;
    job.spec = spec;
    node::JobValue written;
    if (limit.quantity == Quantity::kAmount) {
        if (*whole > base::kAmountMax) return false;
        written = std::to_string(*whole) + "u";
    } else if (limit.quantity == Quantity::kReal) {
        written = double{std::get<Float32>(value).value()};
    } else {
        written = whole == nullptr ? std::get<std::int64_t>(value) : static_cast<std::int64_t>(*whole);
    }
    for (const node::JobKey& key : node::job_keys()) {
        if (key.path() == limit.key) REQUIRE(key.put(job, written));
    }
    spec = job.spec;
    return true;
}

FieldValue below(const FieldValue& value) {
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return *whole - 1;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole - 1;
    return Float32(std::nextafter(std::get<Float32>(value).value(), -std::numeric_limits<float>::infinity()));
}
FieldValue above(const FieldValue& value) {
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return *whole + 1;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole + 1;
    return Float32(std::nextafter(std::get<Float32>(value).value(), std::numeric_limits<float>::infinity()));
}
bool has_below(const Limit& limit) { return limit.least != FieldValue(std::uint64_t{0}); }
bool has_above(const Limit& limit) {
    return limit.most != FieldValue(std::numeric_limits<std::uint64_t>::max());
}

JobSpec sound_for(const Limit& limit) {
    return limit.of == program::Of::kLlama ? sound_llama() : sound_spec();
}

/// What both judges said.
struct Judged {
    bool accepted = false;
    std::string quarrel;  ///< empty: they agree
};

class Judges {
public:
    Judged ask(const JobSpec& spec) const {
        const auto planned = plan(spec);
        const Reason reason = ledger(spec);
        const std::string said = planned.run.err + "ledger: " + std::string(contracts::to_text(reason));
        if (!planned.spec) return {false, planned.run.code == 2 && reason != Reason::kNone ? "" : said};
        // A file in which 0 asks for what the family has, or a rate is a decimal, says a spec of its own.
        if (ledger(*planned.spec) != Reason::kNone) return {false, "of the planned spec; " + said};
        if (reason == Reason::kNone && !(*planned.spec == spec)) return {true, "another spec; " + said};
        return {reason == Reason::kNone, ""};
    }
    /// Asks both; they must agree. Returns whether they accept.
    bool agree(const JobSpec& spec) const {
        const Judged judged = ask(spec);
        CHECK(judged.quarrel == "");
        return judged.accepted;
    }
    PlanJudge plan;
    LedgerJudge ledger;
};

/// Specs near and inside the limits.
class Specs {
public:
    JobSpec draw() {
        JobSpec spec = chance(50) ? sound_spec() : sound_llama();
        spec.profile = chance(50) ? program::Profile::kF32 : program::Profile::kI16;
        spec.strategy = chance(50) ? program::Strategy::kDiloco : program::Strategy::kDilocoHalf;
        if (chance(30)) spec.inner_state = program::InnerState::kCarried;
        spec.seed = *tests::any_word() >> 12;
        spec.rounds = between(1, 100);
        spec.slots = between(1, 64);
        spec.train.inner_steps = between(1, 300);
        spec.security.segment_steps = between(1, spec.train.inner_steps);
        spec.train.batch = between(1, 64);
        spec.model.layers = between(1, 4);
        spec.model.context = between(2, 512);
        spec.model.width = 16 * between(1, 64);
        // Thresholds that a decimal says exactly.
        spec.security.audit_threshold =
            chance(50) ? std::numeric_limits<std::uint64_t>::max() : *tests::any_word() >> 11 << 11;
        spec.security.finalise_threshold =
            chance(70) ? std::numeric_limits<std::uint64_t>::max() : *tests::any_word() >> 11 << 11;
        for (std::uint32_t more = between(0, 2); more > 0; --more) touch(spec);
        if (chance(30)) budget_at_the_border(spec);
        return spec;
    }

private:
    std::uint32_t between(std::uint32_t low, std::uint32_t high) { return *tests::between(low, high); }
    bool chance(std::uint32_t percent) { return between(1, 100) <= percent; }
    /// One field at an end of its range, or one beyond.
    void touch(JobSpec& spec) {
        const auto all = program::limits();
        const Limit& limit = all[between(0, static_cast<std::uint32_t>(all.size()) - 1)];
        if (!limit.applies(spec.model.family)) return;
        FieldValue value = chance(50) ? limit.least : limit.most;
        if (chance(25) && has_below(limit)) value = below(limit.least);
        if (chance(25) && has_above(limit)) value = above(limit.most);
        set_field(spec, limit, value);
    }
    void budget_at_the_border(JobSpec& spec) {
        if (!program::check_spec(spec).ok()) return;
        const auto quote = contracts::quote_job({}, spec);
        if (!quote.ok()) return;
        const std::uint64_t budget = quote->round_cost.units() + between(0, 2);
        spec.market.budget =
            base::Amount::of(budget - std::min<std::uint64_t>(budget, 1)).value_or(base::Amount{});
    }
};

}  // namespace

TEST_CASE("what plan refuses or accepts is what the ledger refuses or accepts, and a refusal names the key") {
    const PlanJudge plan;
    const LedgerJudge ledger;
    for (const Asked& asked : kAsked) {
        CAPTURE(asked.what);
        JobSpec spec = sound_spec();
        asked.make(spec);
        const auto planned = plan(spec);
        CAPTURE(planned.run.err);
        CHECK(planned.run.code == (asked.accepted ? 0 : 2));
        CHECK((ledger(spec) == Reason::kNone) == asked.accepted);
        CHECK(planned.run.err.find(asked.key) != std::string::npos);
    }
}

TEST_CASE("a job beyond a limit is neither bought nor trained: key, value and range are named") {
    const PlanJudge plan;
    JobSpec spec = sound_spec();
    spec.slots = 64, spec.train.inner_steps = 128, spec.security.segment_steps = 1;
    const auto planned = plan(spec);
    const CliRun trained = plan.cli()({"model", "train", plan.file(), "--out", plan.file() + ".model"});
    CHECK(planned.run.code == 2);
    CHECK(trained.code == 2);
    // What `job submit` calls before it opens a home.
    const auto bought = node::purchase({.process = {}, .job_file = plan.file()}, {});
    REQUIRE_FALSE(bought.ok());
    CHECK(bought.error().kind == base::ErrorKind::kUsage);
    for (const std::string& text :
         {planned.run.err, trained.err, bought.error().what + "\n" + bought.error().fix}) {
        CAPTURE(text);
        CHECK(text.find("security.segment_steps = 1 (64 slots of 129 units, together 8256)") !=
              std::string::npos);
        CHECK(text.find("a round has at most 8192 audit units") != std::string::npos);
    }
}

TEST_CASE("at every end of every range, and one beyond it, plan and ledger agree") {
    const Judges judges;
    for (const Limit& limit : program::limits()) {
        for (const FieldValue& end : {limit.least, limit.most}) {
            JobSpec spec = sound_for(limit);
            CAPTURE(limit.key);
            CAPTURE(program::to_text(limit.quantity, end));
            REQUIRE(set_field(spec, limit, end));
            const auto checked = program::check_spec(spec);
            CHECK((checked.ok() || checked.error() != limit.error));
            judges.agree(spec);
        }
        const auto refused = [&](const FieldValue& value) {
            JobSpec spec = sound_for(limit);
            CAPTURE(limit.key);
            CAPTURE(program::to_text(limit.quantity, value));
            if (!set_field(spec, limit, value)) return;  // no amount is so large
            const auto checked = program::check_spec(spec);
            REQUIRE_FALSE(checked.ok());
            CHECK(checked.error() == limit.error);
            CHECK_FALSE(judges.agree(spec));
            const auto run = judges.plan(spec).run;
            const bool named = limit.part == program::Part::kData ||
                               run.err.find(std::string(limit.key)) != std::string::npos;
            CHECK((named || run.code == 0));  // 0: what the family has
        };
        if (has_below(limit)) refused(below(limit.least));
        if (has_above(limit)) refused(above(limit.most));
    }
}

TEST_CASE("what plan accepts of random jobs the ledger accepts, and the reverse") {
    const Judges judges;
    constexpr int kJobs = 2000;
    int accepted = 0;
    tests::check_property(kJobs, [&] {
        const Judged judged = judges.ask(Specs().draw());
        RC_ASSERT(judged.quarrel == "");
        accepted += judged.accepted ? 1 : 0;
    });
    CHECK(accepted * 10 >= kJobs * 3);
    CHECK(accepted * 10 <= kJobs * 9);
}

}  // namespace assay::test
