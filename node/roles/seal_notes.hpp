// SPDX-License-Identifier: Apache-2.0
// Gives roles that bid in the market SealNote, what they sealed. It is on disk before the seal is sent:
// without its salt a seal cannot be opened, and its deposit is burned.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "contracts/rules/market/records.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// A sealed ask for a lot.
struct SealedLot {
    std::uint64_t epoch = 0;  ///< the epoch in which it was sealed
    contracts::LotClass kind;
    base::Amount price;
    std::uint32_t epochs = 0;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.epoch, self.kind, self.price, self.epochs, self.salt);
    }
};

/// A sealed bid of a job.
struct SealedBid {
    std::uint64_t epoch = 0;
    contracts::LotClass kind;
    std::uint32_t lots = 0;
    base::Amount price;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.epoch, self.kind, self.lots, self.price, self.salt);
    }
};

/// The last seals, newest last. Several are kept because an earlier one may still have been on its way to a
/// block when the next one was made, by a process that has ended since.
template <class Sealed>
struct SealNote {
    std::vector<Sealed> sealed;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.sealed);
    }

    static constexpr std::size_t kKept = 4;

    /// The last seal if it was made in this epoch, else null. It is sent again until it is in a block, unless
    /// what is wanted has changed.
    [[nodiscard]] const Sealed* of_epoch(std::uint64_t epoch) const {
        return !sealed.empty() && sealed.back().epoch == epoch ? &sealed.back() : nullptr;
    }
    /// The first seal for which `is` holds; null: none.
    template <class Is>
    [[nodiscard]] const Sealed* find(Is is) const {
        const auto found = std::find_if(sealed.begin(), sealed.end(), is);
        return found == sealed.end() ? nullptr : &*found;
    }
    void add(Sealed one) {
        sealed.push_back(std::move(one));
        if (sealed.size() > kKept) sealed.erase(sealed.begin());
    }
};

/// Empty when there is no note. kFailure when it cannot be read or does not decode: the seals in it could
/// then not be opened.
template <class Sealed>
base::Outcome<SealNote<Sealed>> read_seals(DiskPort& notes, const std::string& name) {
    ASSAY_ASSIGN(const auto kept, notes.read(name));
    if (!kept) return SealNote<Sealed>{};
    auto note = base::decode<SealNote<Sealed>>(*kept);
    if (note.ok()) return std::move(note).value();
    return base::fail(
        base::ErrorKind::kFailure,
        "the note " + name + " of what was sealed is damaged: " + std::string(base::to_text(note.error())),
        "restore it from a copy, or remove it: what is sealed now then loses its deposit");
}

template <class Sealed>
base::Outcome<void> write_seals(DiskPort& notes, const std::string& name, const SealNote<Sealed>& note) {
    return notes.write(name, base::encode(note));
}

}  // namespace assay::node
