// SPDX-License-Identifier: Apache-2.0
// The root of the state with which a slot must start, for the ledger, and the proof of it that miners show.
// The state has the parameters of the round's base, with the moments that the slot carries or none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "contracts/base/codec.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/program/job_spec.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::program {

/// Root of an array that is all +0, from the shapes alone.
Hash256 zero_array_root(const std::vector<TensorInfo>& tensors);

/// The parts of carried_root().
struct CarriedParts {
    Hash256 first_moment;
    Hash256 second_moment;
    std::uint64_t age = 0;

    friend bool operator==(const CarriedParts&, const CarriedParts&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.first_moment, self.second_moment, self.age);
    }
};

/// The roots from which a slot's first state follows, in a form that can be checked against the round's base
/// and what the slot carries.
struct FirstStateParts {
    Hash256 parameters;  ///< array_root of the base's parameters
    /// The kFirstStateSiblings siblings of the leaf of the component `parameters`, upwards.
    std::vector<Hash256> siblings;
    std::optional<CarriedParts> carried;  ///< present exactly when something is carried

    friend bool operator==(const FirstStateParts&, const FirstStateParts&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.parameters, self.siblings, self.carried);
    }
};
/// The number of siblings with which a component opens under its state's root.
inline constexpr std::size_t kFirstStateSiblings = 3;

FirstStateParts first_state_parts(const StateRoots& base, const std::optional<CarriedParts>& carried);

/// What is known about a slot's first state before anybody proves anything.
struct FirstStatePlace {
    std::uint32_t round = 0;
    Hash256 base;     ///< root of the round's base
    Hash256 carried;  ///< carried_root of what the slot goes on with; zero when it carries nothing
};

/// The root of the state at boundary 0. Returns nothing when the parts do not belong to this base or to what
/// is carried. REQUIRES a spec that check_spec accepts.
std::optional<Hash256> first_state_root(const JobSpec& spec, const FirstStatePlace& place,
                                        const FirstStateParts& parts);

}  // namespace assay::program
