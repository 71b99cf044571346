// SPDX-License-Identifier: Apache-2.0
// Prints, for every kind of operator at the shapes of real models, what a dispute over it weighs: the largest
// witness, the moves and bytes of the way down, and how long the referee computes (the median of the runs).
// `dispute_shapes [--runs N] [--quick]`: exit 1 where a witness or a verdict is beyond its bound.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "contracts/base/check.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "tests/contracts/dispute/shapes.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::Pattern;
using disputed::ShapeMemory;

constexpr std::uint32_t kSegmentSteps = 128;
constexpr double kMostMicroseconds = 10'000;

program::JobSpec spec_of(const program::ModelConfig& model, program::Profile profile) {
    program::JobSpec spec;
    spec.name = "shapes";
    spec.profile = profile;
    spec.slots = 1;
    spec.rounds = 1;
    spec.model = model;
    spec.train.inner_steps = kSegmentSteps;
    spec.train.batch = 4;
    spec.train.warmup_steps = 1;
    spec.train.learning_rate = 1e-3F;
    spec.data.train_tokens = 10'000'000;
    return spec;
}

struct Row {
    std::uint64_t links = 0;
    std::size_t witness = 0;
    std::uint64_t moves = 0;
    std::uint64_t bytes = 0;
    double microseconds = 0;
};

// Median of `runs` verdicts.
double timed(const StepFacts& facts, const LinkPosition& at, const FixedHashes& fixed,
             const base::Bytes& witness, int runs) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const GameVerdict verdict = judge(facts, at, fixed, witness);
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        if (!verdict.claimant_wins() && verdict.reason != GameReason::kDiverges) {
            std::fprintf(stderr, "%s: %s\n", describe(facts, at).c_str(),
                         std::string(to_text(verdict.reason)).c_str());
            ASSAY_CHECK(false);
        }
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Links of each phase: the last but one of a kind is the fullest.
std::vector<std::uint64_t> fullest_links(const StepFacts& facts, LinkPosition at, std::uint64_t count) {
    std::map<LinkPhase, std::uint64_t> found;
    for (at.link = 0; at.link < count; ++at.link) {
        const LinkPhase phase = link_place(facts, at).phase;
        if (at.link + 1 == count || !found.contains(phase) || at.link < count / 2) found[phase] = at.link;
    }
    std::vector<std::uint64_t> out;
    for (const auto& [phase, link] : found) out.push_back(link);
    return out;
}

void measure(ShapeMemory& memory, LinkPosition at, int runs, Row& row) {
    const StepFacts& facts = *memory.facts();
    memory.forget();
    const std::vector<Cells> links = compute_links(at, memory);
    const StoredTree tree = link_tree(links);
    const std::uint64_t width = extent_of(facts.rows(facts.output(at.operator_index, at.output)),
                                          facts.cols(facts.output(at.operator_index, at.output)), at.tile)
                                    .width;
    row.links = std::max<std::uint64_t>(row.links, links.size());
    WayCost way;
    for (const std::uint64_t leaves :
         {std::uint64_t{kSegmentSteps}, std::uint64_t{facts.outputs()},
          facts.tiles(facts.output(at.operator_index, at.output)), std::uint64_t{links.size() - 1}}) {
        way.moves += way_cost(leaves).moves;
        way.hashes += way_cost(leaves).hashes;
    }
    for (const std::uint64_t link : fullest_links(facts, at, links.size())) {
        at.link = link;
        const base::Bytes witness = make_witness(at, memory, links, tree);
        const bool is_last = link + 1 == links.size();
        const FixedHashes fixed{.claimed = is_last ? tile_hash(links[link], width) : link_hash(links[link]),
                                .outputs = memory.outputs_root(),
                                .links = tree.root(),
                                .data = memory.data(),
                                .states = {memory.state_root()},
                                .arrays = {}};
        row.witness = std::max(row.witness, witness.size());
        row.moves = std::max(row.moves, way.moves + 1);
        row.bytes = std::max(row.bytes, 32 * way.hashes + witness.size());
        row.microseconds = std::max(row.microseconds, timed(facts, at, fixed, witness, runs));
    }
}

// A tile in the middle whose row and columns are full, and, of a square, seen.
std::uint64_t middle_tile(const StepFacts& facts, program::TensorId id, const Columns& columns) {
    const std::uint64_t across = (facts.cols(id) + 15) / 16;
    const std::uint64_t down = (facts.rows(id) + 15) / 16;
    return (down - 1 - down / 2) * across + std::min(columns.first / 16 + (across > 64 ? 5 : 0), across - 1);
}

bool run(const char* name, const program::ModelConfig& model, program::Profile profile, Pattern pattern,
         int runs) {
    const program::JobSpec spec = spec_of(model, profile);
    const program::Program program = program::build_step_program(model, spec.train, profile);
    const StepFacts facts = facts_of(spec, program, {});
    // Tokens of one row of tiles: every occurrence counts in the same tile.
    base::Bytes file(program::token_file_size(spec.data.train_tokens, model.vocabulary), 0);
    ShapeMemory memory(facts, file, pattern);
    std::map<program::OperatorKind, Row> rows;
    std::map<program::OperatorKind, bool> seen;
    for (std::uint32_t i = 0; i < program.operators.size(); ++i) {
        const program::Operator& one = program.operators[i];
        if (!seen.try_emplace(one.kind, true).second) continue;
        for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
            const program::TensorId id = one.outputs[o];
            LinkPosition at{0, 0, i, o, middle_tile(facts, id, written_columns(facts, i, o)), 0};
            if (one.kind == program::OperatorKind::kEmbeddingGradient) at.tile = 0;
            measure(memory, at, runs, rows[one.kind]);
        }
    }
    bool is_bounded = true;
    for (const auto& [kind, row] : rows) {
        std::printf("| %s | %s | %llu | %zu | %llu | %llu | %.0f |\n", name,
                    std::string(program::to_text(kind)).c_str(), static_cast<unsigned long long>(row.links),
                    row.witness, static_cast<unsigned long long>(row.moves),
                    static_cast<unsigned long long>(row.bytes), row.microseconds);
        is_bounded = is_bounded && row.witness <= kMaxWitnessBytes && row.microseconds <= kMostMicroseconds;
    }
    std::fflush(stdout);
    return is_bounded;
}
}  // namespace

int main(int argc, char** argv) {
    int runs = 100;
    bool quick = false;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--quick") == 0) quick = true;
        if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) runs = std::atoi(argv[++i]);
    }
    const std::uint32_t context = quick ? 512 : 2'048;
    const program::ModelConfig gpt2{.layers = 1,
                                    .width = quick ? 1'024U : 4'096U,
                                    .heads = quick ? 8U : 32U,
                                    .context = context,
                                    .vocabulary = quick ? 5'025U : 50'257U};
    program::ModelConfig llama = gpt2;
    llama.family = program::Family::kLlama;
    llama.kv_heads = llama.heads / 4;
    llama.hidden = quick ? 2'752 : 11'008;
    llama.rope_theta = 10'000.0F;
    llama.head = program::Head::kUntied;
    std::printf("| model | operator | links | witness_bytes | moves | bytes | referee_us |\n");
    std::printf("|---|---|---|---|---|---|---|\n");
    bool ok = true;
    for (const Pattern pattern : {Pattern::kSubnormal, Pattern::kOrdinary}) {
        const std::string of = pattern == Pattern::kSubnormal ? " subnormal" : "";
        ok = run(("gpt2 f32" + of).c_str(), gpt2, program::Profile::kF32, pattern, runs) && ok;
        ok = run(("gpt2 i16" + of).c_str(), gpt2, program::Profile::kI16, pattern, runs) && ok;
        ok = run(("llama f32" + of).c_str(), llama, program::Profile::kF32, pattern, runs) && ok;
        ok = run(("llama i16" + of).c_str(), llama, program::Profile::kI16, pattern, runs) && ok;
    }
    return ok ? 0 : 1;
}
