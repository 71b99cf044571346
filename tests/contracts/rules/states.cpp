// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/rules/states.hpp"

#include <map>

namespace assay::contracts::test {

namespace {

Hash256 hash_of(const std::string& text) { return base::hash("test/state", base::as_bytes(text)); }

std::map<Hash256, program::StateRoots>& bases() {
    static std::map<Hash256, program::StateRoots> known;
    return known;
}

std::map<Hash256, program::CarriedParts>& moments() {
    static std::map<Hash256, program::CarriedParts> known;
    return known;
}

}  // namespace

Hash256 remember_base(const program::StateRoots& roots) {
    const Hash256 root = program::state_root(roots);
    bases().emplace(root, roots);
    return root;
}

Hash256 base_named(const std::string& name) {
    program::StateRoots roots;
    roots.parameters = hash_of(name);
    roots.outer = hash_of(name + " outer");
    return remember_base(roots);
}

Hash256 remember_carried(const program::CarriedParts& parts) {
    const Hash256 root = program::carried_root(parts.first_moment, parts.second_moment, parts.age);
    moments().emplace(root, parts);
    return root;
}

Hash256 carried_named(const std::string& name, std::uint64_t age) {
    return remember_carried({hash_of(name + " first"), hash_of(name + " second"), age});
}

void forget_states() {
    bases().clear();
    moments().clear();
}

program::FirstStateParts shown_start(const Hash256& base, const Hash256& carried) {
    const auto known = bases().find(base);
    if (known == bases().end()) return {};
    const auto goes_on = moments().find(carried);
    return program::first_state_parts(
        known->second, goes_on == moments().end() ? std::nullopt : std::optional(goes_on->second));
}

Hash256 first_boundary(const program::JobSpec& spec, const program::FirstStatePlace& place) {
    const auto root = program::first_state_root(spec, place, shown_start(place.base, place.carried));
    return root.value_or(hash_of("no first state"));
}

}  // namespace assay::contracts::test
