// SPDX-License-Identifier: Apache-2.0
#include "node/roles/price_order.hpp"

#include "contracts/base/codec.hpp"
#include "node/roles/job_note.hpp"

namespace assay::node {

namespace {

struct PriceNote {
    base::Amount price;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.price);
    }
};

}  // namespace

std::string ask_order_note() { return "market-ask"; }
std::string bid_order_note(const base::Hash256& job) { return job_note("market-bid", job); }

base::Outcome<std::optional<base::Amount>> read_price_order(DiskPort& notes, const std::string& note) {
    ASSAY_ASSIGN(const auto kept, notes.read(note));
    if (!kept) return std::optional<base::Amount>();
    const auto price = base::decode<PriceNote>(*kept);
    if (price.ok()) return std::optional(price->price);
    return base::fail(base::ErrorKind::kFailure,
                      "the note " + note + " is no price: " + std::string(base::to_text(price.error())),
                      "write it anew: assay market ask, or bid");
}

base::Outcome<void> write_price_order(DiskPort& notes, const std::string& note,
                                      const std::optional<base::Amount>& price) {
    return price ? notes.write(note, base::encode(PriceNote{*price})) : notes.remove(note);
}

}  // namespace assay::node
