// SPDX-License-Identifier: Apache-2.0
#include "node/config/record_file.hpp"

#include <nlohmann/json.hpp>

#include "node/views/json.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"

namespace assay::node {
namespace {

using nlohmann::json;
using trainer::ObjectReader;

constexpr const char* kSchema = "assay.record/v2";
constexpr std::uint64_t kMaxRecord = std::uint64_t{256} << 20;

base::Outcome<AcceptedSlot> slot_from(const json& value, const std::string& where, std::uint32_t slots) {
    ObjectReader reader(value, where);
    AcceptedSlot slot;
    slot.slot = static_cast<std::uint32_t>(reader.number("slot", 0, slots - 1));
    slot.weight = reader.number("weight", 1, UINT64_MAX);
    if (value.is_object() && value.contains("carried_in")) slot.carried_in = reader.hash("carried_in");
    ASSAY_TRY(reader.finish());
    return slot;
}

base::Outcome<RecordRound> round_from(const json& value, std::uint32_t number, std::uint32_t slots) {
    const std::string where = "the record's round " + std::to_string(number);
    ObjectReader reader(value, where);
    RecordRound round;
    round.round = static_cast<std::uint32_t>(reader.number("round", number, number));
    round.base_root = reader.hash("base_root");
    const json& accepted = reader.value("accepted");
    const json& clip = reader.value("clip_bits");
    if (!clip.is_null())
        round.clip_bits = static_cast<std::uint32_t>(reader.number("clip_bits", 0, 0xffffffffU));
    round.result_root = reader.hash("result_root");
    if (!accepted.is_array()) reader.refuse("\"accepted\" is not a list");
    ASSAY_TRY(reader.finish());
    for (const json& item : accepted) {
        ASSAY_ASSIGN(const AcceptedSlot slot, slot_from(item, where, slots));
        if (!round.accepted.empty() && slot.slot <= round.accepted.back().slot) {
            ObjectReader order(value, where);
            order.refuse("its accepted slots do not ascend");
            return base::failed(order.finish().error());
        }
        round.accepted.push_back(slot);
    }
    return round;
}

// The record's objects, by the names of their members.
struct SlotObject {
    AcceptedSlot slot;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("slot", slot.slot);
        visit("weight", slot.weight);
        if (slot.carried_in) visit("carried_in", *slot.carried_in);
    }
};

struct RoundObject {
    const RecordRound* round;
    template <class Visit>
    void fields(Visit& visit) const {
        std::vector<SlotObject> accepted;
        for (const AcceptedSlot& slot : round->accepted) accepted.push_back({slot});
        visit("round", round->round);
        visit("base_root", round->base_root);
        visit("accepted", accepted);
        visit("clip_bits", round->clip_bits);
        visit("result_root", round->result_root);
    }
};

struct RunObject {
    const RunRecord& record;
    template <class Visit>
    void fields(Visit& visit) const {
        std::vector<RoundObject> rounds;
        for (const RecordRound& round : record.rounds) rounds.push_back({&round});
        visit("job_id", record.job_id);
        visit("slots", record.slots);
        visit("rounds", rounds);
    }
};

}  // namespace

std::string record_to_json(const RunRecord& record) {
    return json_text(kSchema, json_of(RunObject{record}), JsonLayout::kIndented) + "\n";
}

base::Outcome<RunRecord> record_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, trainer::parse_json(text, "the run record"));
    ObjectReader reader(root, "the run record");
    const std::string schema = reader.text("schema");
    if (schema == "assay.record/v1") {
        reader.refuse("its roots are of an earlier law (" + schema +
                      "), which this program cannot recompute");
    } else if (schema != kSchema) {
        reader.refuse(std::string("its schema is not ") + kSchema);
    }
    RunRecord record;
    record.job_id = reader.text("job_id");
    record.slots = static_cast<std::uint32_t>(reader.number("slots", 1, 0xffffffffU));
    const json& rounds = reader.value("rounds");
    if (!rounds.is_array()) reader.refuse("\"rounds\" is not a list");
    ASSAY_TRY(reader.finish());
    for (const json& item : rounds) {
        const auto number = static_cast<std::uint32_t>(record.rounds.size());
        ASSAY_ASSIGN(RecordRound round, round_from(item, number, record.slots));
        if (number > 0 && round.base_root != record.rounds.back().result_root) {
            return base::fail(base::ErrorKind::kUsage,
                              "the run record cannot be used: round " + std::to_string(number) +
                                  " does not start from the result of the round before",
                              "fetch the record again");
        }
        record.rounds.push_back(std::move(round));
    }
    return record;
}

base::Outcome<RunRecord> read_record(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, trainer::read_file(path, kMaxRecord));
    auto record = record_from_json(base::as_text(file));
    if (record.ok()) return record;
    base::Error error = record.error();
    error.what = path.string() + ": " + error.what;
    return base::failed(std::move(error));
}

base::Outcome<void> write_record(const std::filesystem::path& path, const RunRecord& record) {
    return trainer::write_file(path, base::as_bytes(record_to_json(record)));
}

}  // namespace assay::node
