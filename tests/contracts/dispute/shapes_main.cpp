// SPDX-License-Identifier: Apache-2.0
// Prints, for every kind of operator, for updates and for merges at the shapes of real models, what a dispute
// over it weighs: partials of a tile, the largest witness, moves and bytes of the whole way down, and how
// long the referee computes (the median of the runs).
//   dispute_shapes [--runs N] [--quick] [--write PAGE]
// Exit code 1 where a witness is beyond its bound, or, without --quick, a verdict. --write puts the table
// into a page.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "contracts/base/check.hpp"
#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "tests/contracts/dispute/shapes.hpp"

namespace {
using namespace assay;
using namespace assay::dispute;
using disputed::Pattern;
using disputed::ShapeMemory;

constexpr std::uint32_t kSegmentSteps = 128;
constexpr std::size_t kSlots = 256;
constexpr double kMostMicroseconds = 10'000;

struct Options {
    int runs = 100;
    bool quick = false;
    std::string page;
};

program::ModelConfig model_of(program::Family family, bool quick) {
    program::ModelConfig out{.layers = 1,
                             .width = quick ? 1'024U : 4'096U,
                             .heads = quick ? 8U : 32U,
                             .context = quick ? 512U : 2'048U,
                             .vocabulary = quick ? 5'025U : 50'257U};
    if (family == program::Family::kGpt2) return out;
    out.family = family;
    out.kv_heads = out.heads / 4;
    out.hidden = quick ? 2'752 : 11'008;
    out.rope_theta = 10'000.0F;
    out.head = program::Head::kUntied;
    return out;
}

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

// The worst of what was measured.
struct Row {
    std::string name;
    std::map<program::Profile, std::uint64_t> partials;
    std::size_t witness = 0;
    std::uint64_t moves = 0;
    std::uint64_t bytes = 0;
    std::map<program::Profile, double> microseconds;
    double subnormal = 0;
};

// What is measured now.
struct Setting {
    program::Profile profile = program::Profile::kF32;
    Pattern pattern = Pattern::kOrdinary;
    int runs = 1;
};

template <class Judge>
double median_of(int runs, const Judge& judge_once) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const GameVerdict verdict = judge_once();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
        if (!verdict.claimant_wins() && verdict.reason != GameReason::kDiverges) {
            std::fprintf(stderr, "%s\n", std::string(to_text(verdict.reason)).c_str());
            ASSAY_CHECK(false);
        }
        times.push_back(time.count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class Judge>
void note(Row& row, const Setting& setting, std::uint64_t hashes, std::size_t witness,
          const Judge& judge_once) {
    row.witness = std::max(row.witness, witness);
    row.bytes = std::max(row.bytes, 32 * hashes + witness);
    const double time = median_of(setting.runs, judge_once);
    double& worst =
        setting.pattern == Pattern::kSubnormal ? row.subnormal : row.microseconds[setting.profile];
    worst = std::max(worst, time);
}

WayCost way_of(std::initializer_list<std::uint64_t> levels) {
    WayCost out;
    for (const std::uint64_t leaves : levels) {
        out.moves += way_cost(leaves).moves;
        out.hashes += way_cost(leaves).hashes;
    }
    return out;
}

// A partial of each phase that is in the middle of the list, and the last.
std::vector<std::uint64_t> sample_partials(const StepFacts& facts, PartialPosition at, std::uint64_t count) {
    std::map<PartialPhase, std::uint64_t> found;
    for (at.partial = 0; at.partial < count; ++at.partial) {
        const PartialPhase phase = partial_place(facts, at).phase;
        if (at.partial + 1 == count || !found.contains(phase) || at.partial < count / 2)
            found[phase] = at.partial;
    }
    std::vector<std::uint64_t> out;
    for (const auto& [phase, partial] : found) out.push_back(partial);
    return out;
}

void measure(ShapeMemory& memory, PartialPosition at, const Setting& setting, Row& row) {
    const StepFacts& facts = *memory.facts();
    memory.forget();
    const std::vector<Cells> partials = compute_partials(at, memory);
    const StoredTree tree = partial_tree(partials);
    const program::TensorId id = facts.output(at.operator_index, at.output);
    const std::uint64_t width = extent_of(facts.rows(id), facts.cols(id), at.tile).width;
    std::uint64_t& count = row.partials[setting.profile];
    count = std::max<std::uint64_t>(count, partials.size());
    const WayCost way = way_of({kSegmentSteps, facts.outputs(), facts.tiles(id), partials.size() - 1});
    row.moves = std::max(row.moves, way.moves + 1);
    for (const std::uint64_t partial : sample_partials(facts, at, partials.size())) {
        at.partial = partial;
        const base::Bytes witness = make_witness(at, memory, partials, tree);
        const bool is_last = partial + 1 == partials.size();
        const FixedHashes fixed{
            .claimed = is_last ? tile_hash(partials[partial], width) : partial_hash(partials[partial]),
            .outputs = memory.outputs_root(),
            .partials = tree.root(),
            .data = memory.data(),
            .states = {memory.state_root()},
            .arrays = {}};
        note(row, setting, way.hashes, witness.size(), [&] { return judge(facts, at, fixed, witness); });
    }
}

// A tile in the middle whose row and columns are full, and, of a square, seen.
std::uint64_t middle_tile(const StepFacts& facts, program::TensorId id, const Columns& columns) {
    const std::uint64_t across = (facts.cols(id) + 15) / 16;
    const std::uint64_t down = (facts.rows(id) + 15) / 16;
    return (down - 1 - down / 2) * across + std::min(columns.first / 16 + (across > 64 ? 5 : 0), across - 1);
}

void measure_operators(ShapeMemory& memory, const Setting& setting,
                       std::map<program::OperatorKind, Row>& rows) {
    const StepFacts& facts = *memory.facts();
    std::map<program::OperatorKind, bool> seen;
    for (std::uint32_t i = 0; i < facts.program->operators.size(); ++i) {
        const program::Operator& one = facts.program->operators[i];
        if (!seen.try_emplace(one.kind, true).second) continue;
        for (std::uint32_t o = 0; o < one.outputs.size(); ++o) {
            PartialPosition at{0, 0, i, o, middle_tile(facts, one.outputs[o], written_columns(facts, i, o)),
                               0};
            // All tokens of the file are 0.
            if (one.kind == program::OperatorKind::kEmbeddingGradient) at.tile = 0;
            measure(memory, at, setting, rows[one.kind]);
        }
    }
}

void measure_array(ShapeMemory& memory, const program::JobSpec& spec, const program::StrategyRow& row,
                   ArrayUnit unit, const Setting& setting, Row& out) {
    memory.forget();
    const auto& tensors = memory.facts()->program->parameters;
    ArrayFacts facts{unit, &tensors, &row, program::round_settings(spec), {}};
    if (unit != ArrayUnit::kUpdate) facts.slots.assign(kSlots, {{}, 1'000, 60'000});
    const auto largest = std::max_element(tensors.begin(), tensors.end(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const std::uint64_t tiles = arithmetic::tile_count(largest->rows, largest->cols);
    ArrayPosition at{static_cast<std::uint32_t>(largest - tensors.begin()), tiles / 2, 0};
    const std::vector<Cells> partials = compute_partials(facts, at, memory);
    const StoredTree tree = partial_tree(partials);
    out.partials[setting.profile] = partials.size();
    const WayCost way = way_of({tensors.size(), tiles, partials.size() - 1});
    out.moves = way.moves + 1;
    for (at.partial = 0; at.partial < partials.size(); ++at.partial) {
        const base::Bytes witness = make_witness(facts, at, memory, partials, tree);
        const bool is_last = at.partial + 1 == partials.size();
        FixedHashes fixed{
            .claimed = is_last ? tile_hash(partials[at.partial], 16) : partial_hash(partials[at.partial]),
            .outputs = {},
            .partials = tree.root(),
            .data = {},
            .states = {memory.state_root(), memory.state_root()},
            .arrays = {}};
        fixed.arrays.assign(facts.slots.size(), memory.array_root());
        note(out, setting, way.hashes, witness.size(), [&] { return judge(facts, at, fixed, witness); });
    }
}

void measure_clip(ShapeMemory& memory, const program::JobSpec& spec, const Setting& setting, Row& out) {
    memory.forget();
    const auto& tensors = memory.facts()->program->parameters;
    const ClipFacts facts{&tensors, spec.train.sum_exponent, 1.0F};
    const std::vector<Cells> partials = compute_partials(facts, memory);
    const StoredTree tree = partial_tree(partials);
    out.partials[setting.profile] = partials.size();
    const WayCost way = way_of({partials.size() - 1});
    out.moves = way.moves + 1;
    for (const std::uint64_t partial : {partials.size() / 2, partials.size() - 1}) {
        const base::Bytes witness = make_witness(facts, partial, memory, partials, tree);
        const FixedHashes fixed{.claimed = partial_hash(partials[partial]),
                                .outputs = {},
                                .partials = tree.root(),
                                .data = {},
                                .states = {},
                                .arrays = {memory.array_root()}};
        note(out, setting, way.hashes, witness.size(), [&] { return judge(facts, partial, fixed, witness); });
    }
}

struct ShapeTable {
    std::map<program::OperatorKind, Row> operators;
    std::map<std::string, Row> arrays;
};

void run(program::Family family, const Setting& setting, bool quick, ShapeTable& table) {
    const program::ModelConfig model = model_of(family, quick);
    program::JobSpec spec = spec_of(model, setting.profile);
    const program::Program program = program::build_step_program(model, spec.train, setting.profile);
    const StepFacts facts = facts_of(spec, program, {});
    const base::Bytes file(program::token_file_size(spec.data.train_tokens, model.vocabulary), 0);
    ShapeMemory memory(facts, file, setting.pattern);
    measure_operators(memory, setting, table.operators);
    if (family != program::Family::kGpt2) return;
    for (const program::StrategyRow* const row : program::strategies()) {
        measure_array(memory, spec, *row, ArrayUnit::kUpdate, setting,
                      table.arrays["update, " + std::string(row->codec->word)]);
    }
    const program::StrategyRow& row = program::strategy_of(spec);
    measure_array(memory, spec, row, ArrayUnit::kMergedParameters, setting,
                  table.arrays["merge, parameters"]);
    measure_array(memory, spec, row, ArrayUnit::kMergedOuter, setting, table.arrays["merge, momentum"]);
    measure_clip(memory, spec, setting, table.arrays["merge, clip"]);
}

std::string line_of(const std::string& name, Row row) {
    char numbers[200];
    using program::Profile;
    std::snprintf(numbers, sizeof numbers, " %llu | %llu | %zu | %llu | %llu | %.0f | %.0f | %.0f |\n",
                  static_cast<unsigned long long>(row.partials[Profile::kF32]),
                  static_cast<unsigned long long>(row.partials[Profile::kI16]), row.witness,
                  static_cast<unsigned long long>(row.moves), static_cast<unsigned long long>(row.bytes),
                  row.microseconds[Profile::kF32], row.microseconds[Profile::kI16], row.subnormal);
    return "| " + name + " |" + numbers;
}

std::string markdown(const ShapeTable& table) {
    std::string out =
        "| what | partials f32 | partials i16 | witness_bytes | moves | bytes | referee_us f32 | referee_us "
        "i16 | "
        "referee_us subnormal |\n|---|---|---|---|---|---|---|---|---|\n";
    for (const program::OperatorRow& row : program::operator_table()) {
        out += line_of("`" + std::string(row.name) + "`", table.operators.at(row.kind));
    }
    for (const auto& [name, row] : table.arrays) out += line_of(name, row);
    return out;
}

bool is_bounded(const Row& row, bool quick) {
    bool out = row.witness <= kMaxWitnessBytes;
    for (const auto& [profile, time] : row.microseconds) out = out && (quick || time <= kMostMicroseconds);
    return out && (quick || row.subnormal <= kMostMicroseconds);
}

bool write_page(const std::string& path, const std::string& table) {
    std::ifstream in(path, std::ios::binary);
    const std::string page(std::istreambuf_iterator<char>(in), {});
    const std::string begin = "<!-- table shapes -->\n";
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find("<!-- end shapes -->");
    if (from == std::string::npos || to == std::string::npos || to < from) return false;
    std::ofstream out(path, std::ios::binary);
    out << page.substr(0, from + begin.size()) << table << page.substr(to);
    return out.flush().good();
}
}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--quick") == 0) options.quick = true;
        if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) options.runs = std::stoi(argv[++i]);
        if (std::strcmp(argv[i], "--write") == 0 && i + 1 < argc) options.page = argv[++i];
    }
    ShapeTable table;
    for (const Pattern pattern : {Pattern::kOrdinary, Pattern::kSubnormal}) {
        for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
            for (const auto family : {program::Family::kGpt2, program::Family::kLlama}) {
                run(family, {profile, pattern, std::max(1, options.runs)}, options.quick, table);
            }
        }
    }
    const std::string text = markdown(table);
    std::printf("%s", text.c_str());
    bool ok = true;
    for (const auto& [kind, row] : table.operators) ok = ok && is_bounded(row, options.quick);
    for (const auto& [name, row] : table.arrays) ok = ok && is_bounded(row, options.quick);
    if (!options.page.empty()) ok = write_page(options.page, text) && ok;
    return ok ? 0 : 1;
}
