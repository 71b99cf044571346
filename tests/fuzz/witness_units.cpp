// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/witness_units.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "contracts/base/check.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/program/round_law.hpp"
#include "tests/contracts/dispute/array_player.hpp"
#include "tests/contracts/dispute/step_player.hpp"

namespace assay::fuzz {

using namespace dispute;
using disputed::ArrayStore;
using disputed::ArrayUnitPlayer;
using disputed::kStep;
using disputed::StepPlayer;

namespace {

constexpr float kBound = 1e-3F;

// Any numbers, most of them finite; any integers, most of them within a codec's range.
class HostileMemory final : public StepMemory {
public:
    explicit HostileMemory(HostileBytes& stream) : stream_(stream) {}
    [[nodiscard]] const StepFacts* facts() const override { return nullptr; }
    void tile(const Source&, std::uint64_t, Tile& out) override {
        const bool any = stream_.one_in(8);
        for (float& value : out) {
            std::uint32_t bits = stream_.word();
            if (!any && (bits & 0x7f800000U) == 0x7f800000U) bits &= 0xff7fffffU;
            value = std::bit_cast<float>(bits);
        }
    }
    void wholes(const Source&, std::uint64_t, Cells& out) override {
        const unsigned shift = stream_.one_in(8) ? 0 : 2U;
        for (base::Int128& value : out.whole) value = std::bit_cast<std::int64_t>(stream_.wide()) >> shift;
    }
    const StoredTree& tiles(const Source&) override { return none_; }
    const StoredTree& above(const Source&) override { return none_; }
    const StoredTree& components(std::uint32_t) override { return none_; }
    void piece(std::uint64_t, base::Bytes&, std::vector<Hash256>&) override {}

private:
    HostileBytes& stream_;
    StoredTree none_;
};

program::JobSpec array_spec() {
    program::JobSpec spec;
    spec.name = "arrays";
    spec.slots = 4;
    spec.rounds = 2;
    spec.model = {program::Family::kGpt2, 1, 18, 2, 4, 21};
    spec.train.inner_steps = 4;
    spec.train.batch = 2;
    spec.train.warmup_steps = 4;
    spec.train.learning_rate = 1e-2F;
    spec.train.max_update_norm = kBound;
    spec.data.train_tokens = 4'000;
    spec.security.segment_steps = 2;
    return spec;
}

// A base, two updates, their merge and their clips, under each strategy.
struct ArrayWorld {
    program::JobSpec spec = array_spec();
    ArrayStore store;
    std::vector<float> merged, merged_outer;
    std::vector<std::uint32_t> clips;

    explicit ArrayWorld(const program::StrategyRow& row)
        : store(program::build_step_program(spec.model, spec.train, spec.profile).parameters) {
        spec.engine = row.engine;
        spec.strategy = row.number;
        std::uint64_t state = 5;
        const auto uniform = [&] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return static_cast<float>(state >> 40U) * 0x1p-24F - 0.5F;
        };
        std::vector<float> other;
        for (std::size_t i = 0; i < store.numbers(); ++i) {
            store.base.push_back(uniform());
            store.outer.push_back(uniform());
            store.end.push_back(store.base.back() + uniform() * 1e-2F);
            other.push_back(store.base.back() + uniform() * 1e-2F);
        }
        store.end_steps = spec.train.inner_steps;
        const program::RoundSettings settings = program::round_settings(spec);
        for (const std::vector<float>* const end : {&store.end, &other}) {
            store.updates.emplace_back(store.numbers());
            ASSAY_CHECK(row.codec->finalise(settings, store.base, *end, store.updates.back()));
        }
        std::vector<program::Contribution> contributions;
        for (const auto& update : store.updates) {
            clips.push_back(program::update_clip(spec, update));
            contributions.push_back({update, 1, clips.back()});
        }
        merged = store.base;
        merged_outer = store.outer;
        row.outer->merge(settings, contributions, merged, merged_outer);
    }
};

ArrayWorld& array_world(std::size_t which) {
    static std::vector<std::unique_ptr<ArrayWorld>> worlds = [] {
        std::vector<std::unique_ptr<ArrayWorld>> out;
        for (const program::StrategyRow* const row : program::strategies())
            out.push_back(std::make_unique<ArrayWorld>(*row));
        return out;
    }();
    return *worlds[which % worlds.size()];
}

// Opens what it has of the state at a slot's end.
class EndPlayer final : public UnitMemory {
public:
    explicit EndPlayer(const program::StateRoots& end) : end_(end) {}
    Hash256 state(std::uint32_t) override { return {}; }
    std::vector<Hash256> row(const Way&) override { return {}; }
    std::vector<Hash256> arrays() override { return {}; }
    std::optional<program::Fingerprint> fingerprint(std::uint32_t) override { return std::nullopt; }
    std::optional<NotFinitePlace> ends_at(const Way&) override { return std::nullopt; }
    base::Bytes witness(const Way&) override { return carried_witness(end_); }

private:
    program::StateRoots end_;
};

// A clip that the claimant may write.
std::uint32_t any_clip(HostileBytes& stream) {
    constexpr std::array<std::uint32_t, 6> kEdges = {0, 1, 65'535, 65'536, 65'537, UINT32_MAX};
    return stream.one_in(3) ? stream.word() : kEdges[stream.next() % kEdges.size()];
}

}  // namespace

FuzzedStep& fuzzed_step(std::size_t which) {
    static constexpr std::size_t kWorlds = 4;
    static std::array<FuzzedStep, kWorlds> worlds;
    static constexpr std::array<std::size_t, kWorlds> kVariants = {0, 1, 4, 5};
    FuzzedStep& out = worlds[which % kWorlds];
    if (out.honest == nullptr) {
        make_step(out.step, disputed::small_variants()[kVariants[which % kWorlds]]);
        out.step.spec.data.train = out.step.data;
        out.honest = std::make_unique<StepCommitments>(out.step.inputs);
    }
    return out;
}

void run_hostile_arrays(HostileBytes& stream) {
    const std::vector<program::TensorInfo> tensors = {{.name = "a", .rows = 20, .cols = 7},
                                                      {.name = "b", .rows = 3, .cols = 18, .offset = 140}};
    HostileMemory memory(stream);
    if (stream.one_in(4)) {
        const float bound = std::bit_cast<float>(1U + stream.word() % 0x7f7fffffU);
        const ClipFacts facts{&tensors, -static_cast<int>(stream.next() % 65), bound};
        const std::vector<Cells> cells = compute_partials(facts, memory);
        ASSAY_CHECK(cells.back().whole[0] >= 0 && cells.back().whole[0] <= arithmetic::kWholeClip);
        return;
    }
    const auto rows = program::strategies();
    const program::StrategyRow& row = *rows[stream.next() % rows.size()];
    const program::ExponentRange range = row.codec->exponents;
    const auto span = static_cast<unsigned>(range.most - range.least + 1);
    ArrayFacts facts{static_cast<ArrayUnit>(1 + stream.next() % 3),
                     &tensors,
                     &row,
                     {range.least + static_cast<int>(stream.next() % span), 0.7F, 0.9F},
                     {}};
    if (facts.unit != ArrayUnit::kUpdate) {
        for (unsigned left = 1 + stream.next() % 70U; left > 0; --left) {
            const std::uint64_t weight = stream.one_in(16) ? stream.wide() : 1 + stream.next();
            facts.slots.push_back(
                {{}, weight, stream.one_in(16) ? any_clip(stream) : stream.word() % 65'537});
        }
    }
    const std::uint32_t tensor = stream.next() % 2U;
    const ArrayPosition at{
        tensor, stream.next() % arithmetic::tile_count(tensors[tensor].rows, tensors[tensor].cols), 0};
    for (const Cells& cells : compute_partials(facts, at, memory)) {
        const Cells again = decode_cells(cells.shape(), encode_cells(cells));
        ASSAY_CHECK(partial_hash(again) == partial_hash(cells));
    }
}

struct Walk::Parts {
    program::JobSpec spec;
    UnitClaim claim;
    bool hostile = false;
    bool cannot_win = false;
    std::unique_ptr<UnitFacts> facts;
    std::unique_ptr<ArrayStore> clipped;
    std::unique_ptr<UnitMemory> player;
    Way way;
    bool ended = false;

    void make_segment(FuzzedStep& at, HostileBytes& stream);
    void make_update(ArrayWorld& world, HostileBytes& stream);
    void make_carried(ArrayWorld& world);
    void make_merge(ArrayWorld& world, HostileBytes& stream);
    void make_clip(ArrayWorld& world, HostileBytes& stream);
    void begin() { facts = std::make_unique<UnitFacts>(spec, claim); }
    bool move(HostileBytes& stream);
};

void Walk::Parts::make_segment(FuzzedStep& at, HostileBytes& stream) {
    spec = at.step.spec;
    auto own = std::make_unique<StepPlayer>(at.step, *at.honest, "same");
    own->print = own->computed_print();
    const bool whole = stream.one_in(2);
    claim.first_step = whole ? 0 : kStep;
    claim.last_step = whole ? 4 : kStep + 1;
    if (hostile && stream.one_in(2)) {
        claim.last_step = kStep;
        claim.diverged_at = stream.word() % static_cast<std::uint32_t>(at.step.program.operators.size());
    }
    claim.age = claim.first_step;
    claim.states = {own->state(claim.first_step), own->state(claim.last_step)};
    for (std::uint32_t step = claim.first_step; step < claim.last_step; ++step) {
        claim.fingerprints.push_back(own->fingerprint(step).value());
        if (hostile && stream.one_in(2)) claim.fingerprints.back() = {stream.word(), stream.word()};
    }
    player = std::move(own);
}

void Walk::Parts::make_update(ArrayWorld& world, HostileBytes& stream) {
    std::vector<std::int64_t> update = world.store.updates[0];
    claim.states = {program::state_root(world.store.base_roots()),
                    program::state_root(world.store.end_roots())};
    if (hostile && stream.one_in(3)) claim.diverged_at = 0;
    if (hostile) update[stream.word() % update.size()] = std::bit_cast<std::int64_t>(stream.wide());
    claim.claimed = world.store.update_root(update);
    begin();
    auto own = std::make_unique<ArrayUnitPlayer>(*facts, world.store);
    own->update = std::move(update);
    player = std::move(own);
}

void Walk::Parts::make_carried(ArrayWorld& world) {
    program::StateRoots end = world.store.end_roots();
    end.first_moment = base::hash("fuzz/first", {});
    end.second_moment = base::hash("fuzz/second", {});
    end.moment_age = 4;
    claim.states = {program::state_root(end)};
    claim.claimed = program::carried_root(end.first_moment, end.second_moment, hostile ? 5 : 4);
    cannot_win = hostile;
    player = std::make_unique<EndPlayer>(end);
}

void Walk::Parts::make_merge(ArrayWorld& world, HostileBytes& stream) {
    claim.states = {program::state_root(world.store.base_roots())};
    for (const auto& update : world.store.updates) claim.updates.push_back(world.store.update_root(update));
    claim.clips = world.clips;
    std::vector<float> merged = world.merged;
    if (hostile && stream.one_in(2)) {
        for (std::uint32_t& clip : claim.clips) clip = any_clip(stream);
        cannot_win = !std::all_of(claim.clips.begin(), claim.clips.end(), program::is_clip);
    } else if (hostile) {
        merged[stream.word() % merged.size()] = std::bit_cast<float>(stream.word());
    }
    begin();
    auto own = std::make_unique<ArrayUnitPlayer>(*facts, world.store);
    own->merged = std::move(merged);
    own->merged_outer = world.merged_outer;
    claim.claimed = own->merged_root();
    player = std::move(own);
}

void Walk::Parts::make_clip(ArrayWorld& world, HostileBytes& stream) {
    claim.updates = {world.store.update_root(world.store.updates[1])};
    claim.clips = {hostile ? any_clip(stream) : world.clips[1]};
    cannot_win = !program::is_clip(claim.clips[0]);
    clipped = std::make_unique<ArrayStore>(world.store.tensors());
    clipped->updates = {world.store.updates[1]};
    begin();
    player = std::make_unique<ArrayUnitPlayer>(*facts, *clipped);
}

// A post and a pick.
bool Walk::Parts::move(HostileBytes& stream) {
    std::vector<Hash256> hashes = next_post(way, *player);
    if (!may_post(way, *facts, hashes)) {
        // Nothing above it is fixed: anything may be posted.
        hashes.resize(wanted_hashes(way));
        for (Hash256& hash : hashes) hash.bytes[0] = stream.next();
        if (way.stage == WayStage::kStates && !hashes.empty()) hashes.back() = way.end;
        if (!may_post(way, *facts, hashes)) return false;
        hostile = true;
    }
    post(way, *facts, std::move(hashes));
    for (int tries = 0; tries < 16; ++tries) {
        Pick any{.index = stream.word() % (way.posted.size() + 1), .end = std::nullopt};
        if (stream.one_in(4)) any = {.index = 0, .end = static_cast<StepEnd>(1 + stream.next() % 4)};
        if (!may_pick(way, *facts, any)) continue;
        pick(way, *facts, any);
        // Of other steps than the fixture's nobody has the outputs.
        hostile = hostile || (way.stage == WayStage::kOutputs && way.at.step != kStep);
        return true;
    }
    return false;
}

Walk::Walk(FuzzedStep& at, HostileBytes& stream) : parts_(std::make_unique<Parts>()) {
    Parts& p = *parts_;
    p.claim.kind = static_cast<UnitKind>(1 + stream.next() % 5);
    p.hostile = stream.one_in(3);
    ArrayWorld& world = array_world(stream.next());
    p.spec = world.spec;
    switch (p.claim.kind) {
        case UnitKind::kSegment: p.make_segment(at, stream); break;
        case UnitKind::kUpdate: p.make_update(world, stream); break;
        case UnitKind::kCarried: p.make_carried(world); break;
        case UnitKind::kMerge: p.make_merge(world, stream); break;
        case UnitKind::kClip: p.make_clip(world, stream); break;
    }
    if (!p.facts) p.begin();
    p.way = begin_way(*p.facts);
    while (p.way.stage != WayStage::kWitness) {
        ASSAY_CHECK(!describe_way(p.way, *p.facts).empty());
        if (!p.move(stream)) return;
    }
    p.ended = true;
}

Walk::~Walk() = default;

bool Walk::has_ended() const { return parts_->ended; }

base::Bytes Walk::honest_witness() {
    Parts& p = *parts_;
    const bool shown = p.claim.kind == UnitKind::kUpdate && p.claim.diverged_at;
    return shown ? base::Bytes{} : p.player->witness(p.way);
}

void Walk::judge(base::ByteView witness) {
    Parts& p = *parts_;
    const GameVerdict verdict = judge_way(p.way, *p.facts, witness);
    ASSAY_CHECK(verdict.claimant_wins() == (verdict.reason == GameReason::kAgrees));
    ASSAY_CHECK(!describe_way(p.way, *p.facts).empty());
    if (p.cannot_win) ASSAY_CHECK(!verdict.claimant_wins());
    if (p.hostile) return;
    const base::Bytes honest = honest_witness();
    ASSAY_CHECK(verdict.claimant_wins() ==
                std::equal(witness.begin(), witness.end(), honest.begin(), honest.end()));
}

}  // namespace assay::fuzz
