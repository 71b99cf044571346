// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/spec_check.hpp"

namespace assay::program {

namespace {

const SpecRule* rule_of(SpecError error) {
    for (const SpecRule& rule : spec_rules()) {
        if (rule.error == error) return &rule;
    }
    return nullptr;
}

const Limit* limit_for(const JobSpec& spec, std::string_view key) {
    for (const Limit& limit : limits()) {
        if (limit.key == key && limit.applies(spec.model.family)) return &limit;
    }
    return nullptr;
}

// What fills a field of the data is a file; its own name says more than the key's.
std::string_view name_of(const Limit& limit) {
    return limit.part == Part::kData ? limit.json : limit.key.substr(limit.key.find('.') + 1);
}

std::string family_text(const Limit& limit) {
    if (limit.of == Of::kAnyFamily) return "";
    return limit.of == Of::kGpt2 ? " in family gpt2" : " in family llama";
}

}  // namespace

base::Result<void, SpecError> check_spec(const JobSpec& spec, Parts parts) {
    // Every range before every rule: what a rule computes is then in range.
    for (const Limit& limit : limits()) {
        if (!parts.contains(limit.part) || !limit.applies(spec.model.family)) continue;
        if (!limit.allows(limit.value(spec))) return base::failed(limit.error);
    }
    for (const SpecRule& rule : spec_rules()) {
        if (parts.contains(rule.needs) && !rule.holds(spec)) return base::failed(rule.error);
    }
    return {};
}

base::Result<void, SpecError> check_spec(const JobSpec& spec) { return check_spec(spec, kWholeSpec); }

std::string to_text(SpecError error) {
    if (const SpecRule* rule = rule_of(error)) return rule->text();
    std::string text;
    for (const Limit& limit : limits()) {
        if (limit.error != error) continue;
        text += text.empty() ? std::string(name_of(limit)) + " is " : " and ";
        text += limit.range() + family_text(limit);
    }
    return text.empty() ? "unknown error" : text;
}

std::string_view key_of(SpecError error) {
    if (const SpecRule* rule = rule_of(error)) return rule->key;
    for (const Limit& limit : limits()) {
        if (limit.error == error) return limit.key;
    }
    return "";
}

std::string found_text(SpecError error, const JobSpec& spec) {
    std::string text(key_of(error));
    if (const Limit* const limit = limit_for(spec, text)) {
        if (limit->part == Part::kData) text += ": " + std::string(limit->json);
        text += " = " + to_text(limit->quantity, limit->value(spec));
    }
    if (const SpecRule* const rule = rule_of(error)) text += " (" + rule->found(spec) + ")";
    return text;
}

}  // namespace assay::program
