// SPDX-License-Identifier: Apache-2.0
#include "node/views/market_outlook.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/book.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/terms.hpp"
#include "contracts/rules/market/working_lots.hpp"

namespace assay::node {

namespace {

using base::Amount;
using base::PublicKey;
using contracts::LotClass;
using contracts::MarketPhase;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;

/// That every machine of a class of memory has.
std::uint64_t least_bytes(std::uint8_t bits) {
    const std::uint8_t real = std::min(bits, contracts::kMaxMemoryBits);  // a node may say anything
    return real == 0 ? 0 : (std::uint64_t{1} << (real - 1U)) * kGiB;
}

std::uint64_t gib_up(std::uint64_t bytes) { return bytes / kGiB + (bytes % kGiB == 0 ? 0 : 1); }

/// The market as it stands for whoever looks at the next clearing.
class NextClearing {
public:
    NextClearing(const contracts::StateView& state, std::uint64_t height)
        : state_(state),
          height_(height),
          clock_(contracts::read_market_clock(state)),
          params_(contracts::read_market_params(state)) {}

    [[nodiscard]] const contracts::MarketClock& clock() const { return clock_; }
    [[nodiscard]] const contracts::MarketParams& params() const { return params_; }
    /// The base price of the next clearing, as far as it is known.
    Amount base_price(const LotClass& kind) {
        const auto found = prices_.find(kind);
        if (found != prices_.end()) return found->second;
        const std::uint64_t next = clock_.epoch + (clock_.phase == MarketPhase::kNotice ? 2 : 1);
        const Amount price = contracts::base_price_for(state_, kind, next, params_.least_base_price);
        return prices_.emplace(kind, price).first->second;
    }
    /// The newest clearing of the class that sold something.
    [[nodiscard]] std::optional<contracts::ClassEpoch> last_sale(const LotClass& kind) const {
        const auto epochs = contracts::list_class_epochs(state_, kind);
        for (auto at = epochs.rbegin(); at != epochs.rend(); ++at)
            if (at->second.lowest) return at->second;
        return std::nullopt;
    }
    [[nodiscard]] std::uint64_t sealed_lots() const {
        std::uint64_t opened = 0;
        for (const auto& [node, ask] : contracts::list_lot_asks(state_)) opened += ask.opened ? 1U : 0U;
        return clock_.lots - std::min<std::uint64_t>(opened, clock_.lots);
    }
    /// When a bid or lot is sealed next, in words.
    [[nodiscard]] std::string sealing_text() const {
        switch (clock_.phase) {
            case MarketPhase::kStopped: return "the clock stands still, and a seal starts it";
            case MarketPhase::kSealing:
                return "seals are taken up to block " + std::to_string(clock_.open_at - 1);
            case MarketPhase::kOpening:
            case MarketPhase::kNotice: break;
        }
        return "seals are taken again from block " + std::to_string(clock_.end) + " on, in " +
               counted(clock_.end > height_ ? clock_.end - height_ : 0, "block");
    }

    /// What was sealed and cannot be opened yet.
    [[nodiscard]] Obstacle sealed(const char* token, const char* what) const {
        return lacking(token,
                       "the " + std::string(what) + " is sealed, and is opened from block " +
                           std::to_string(clock_.open_at) + " on",
                       clock_.open_at, height_, "blocks");
    }
    /// What was leased of the next epoch. `begins`: "its lots begin".
    [[nodiscard]] Obstacle begins(const char* begins) const {
        return lacking("begins_at", std::string(begins) + " at block " + std::to_string(clock_.end),
                       clock_.end, height_, "blocks");
    }

private:
    const contracts::StateView& state_;
    std::uint64_t height_;
    contracts::MarketClock clock_;
    contracts::MarketParams params_;
    std::map<LotClass, Amount> prices_;
};

class JobLook {
public:
    JobLook(const contracts::StateView& state, std::uint64_t height, const contracts::Job& job)
        : state_(state), height_(height), job_(job), next_(state, height) {
        look_.job = job.id;
        look_.name = job.spec.name;
        look_.phase = std::string(contracts::to_text(job.phase));
        look_.gang = job.spec.market.terms.gang;
        look_.most = job.spec.market.terms.most;
    }

    JobOutlook take(const StepBytes& step_bytes) {
        if (!job_.leases()) {
            add(plain("own_auction",
                      "the job has no terms of the market: it holds an auction of its own; see: "
                      "assay job show"));
            return std::move(look_);
        }
        if (contracts::is_over(job_.phase)) {
            add(plain("job_over", "the job is over: " + std::string(contracts::to_text(job_.end_reason))));
            return std::move(look_);
        }
        look_.leased = contracts::count_leases(state_, job_.id, next_.clock().epoch);
        look_.leased_next = contracts::count_leases(state_, job_.id, next_.clock().epoch + 1);
        look_at_verifiers();
        look_at_bonds();
        look_at_lots(step_bytes(job_.spec));
        if (working_ < look_.gang || look_.leased_next < look_.gang) look_at_market();
        return std::move(look_);
    }

private:
    void add(Obstacle obstacle) { look_.obstacles.push_back(std::move(obstacle)); }
    [[nodiscard]] Amount cap() const { return job_.spec.market.max_price; }

    void look_at_verifiers() {
        if (job_.round > 0 || job_.phase != contracts::JobPhase::kWaiting) return;
        const contracts::Params params = contracts::params_of(state_, job_);
        std::set<PublicKey> owners;
        for (const contracts::EnlistedVerifier& one : job_.verifiers)
            if (!one.dropped) owners.insert(one.owner);
        if (owners.size() < params.panel_owners_least) {
            add(lacking("no_verifier",
                        "verifiers of " + counted(owners.size(), "owner") + " have enlisted, and " +
                            std::to_string(params.panel_owners_least) +
                            " are needed; a verifier enlists once it holds the job's data",
                        params.panel_owners_least, owners.size(), "owners"));
        }
        const std::uint64_t last = contracts::last_of_enlistment(params, job_);
        if (height_ <= last) {
            add(lacking("enlistment_open",
                        "verifiers may enlist up to block " + std::to_string(last) +
                            "; the first round begins after that",
                        last + 1, height_, "blocks"));
        }
    }

    void look_at_bonds() {
        working_ = contracts::count_working_lots(state_, job_, next_.clock().epoch);
        if (working_ == look_.leased) return;
        const std::string lots = counted(look_.leased - working_, "leased lot");
        const char* const why =
            " cannot hold a slot: no stake, a revoked key, dropped, or too few other judges. "
            "The buyer's node leases others in their place, if any are left";
        add(lacking("lots_idle", lots + why, look_.leased, working_, "lots"));
    }

    void look_at_lots(std::optional<std::uint64_t> step_bytes) {
        std::set<LotClass> fit;
        std::uint64_t too_small = 0;
        std::uint8_t largest = 0;
        for (const auto& [node, kind] : lots_on_offer(state_)) {
            std::uint64_t& bin = bin_of(look_.lots, job_, kind, next_.base_price(kind));
            ++bin;
            if (&bin == &look_.lots.fit) ++payable_[kind];
            if (!contracts::takes_class(job_, kind)) continue;
            fit.insert(kind);
            if (!step_bytes) continue;
            largest = std::max(largest, kind.memory);
            too_small += least_bytes(kind.memory) < *step_bytes ? 1U : 0U;
        }
        for (const auto& [kind, book] : contracts::list_class_books(state_))
            if (contracts::takes_class(job_, kind)) fit.insert(kind);
        classes_.assign(fit.begin(), fit.end());
        if (too_small > 0) {
            const std::uint64_t needs = gib_up(*step_bytes);
            add(lacking("memory_does_not_fit",
                        "a step of the job needs " + std::to_string(needs) + " GiB at least; " +
                            std::to_string(too_small) +
                            " of the lots that its terms take may have less, the "
                            "largest class is of " +
                            size_words(largest) + " GiB: name least_memory in the job's [market]",
                        needs, least_bytes(largest) / kGiB, "GiB"));
        }
    }

    void look_at_market() {
        const FittingLots& lots = look_.lots;
        if (look_.leased > 0 && working_ < look_.gang) {
            add(lacking("gang_incomplete",
                        "the job has " + counted(working_, "lot") + " of the " + std::to_string(look_.gang) +
                            " without which it does not work",
                        look_.gang, working_, "lots"));
        }
        // It has what it wants of the clearing, and waits for the epoch alone.
        if (look_.leased_next >= look_.gang) return add(next_.begins("its lots begin"));
        if (lots.fit == 0) {
            add(lacking("no_capacity", breakdown(lots, next_.sealed_lots()), look_.gang, 0, "lots"));
        } else if (lots.fit < look_.gang) {
            add(lacking("too_few_lots", breakdown(lots, next_.sealed_lots()), look_.gang, lots.fit, "lots"));
        } else if (const std::uint64_t most = largest_class(payable_); most < look_.gang) {
            add(lacking("no_class_alone", no_gang_text(look_.gang, payable_), look_.gang, most, "lots"));
        }
        look_at_prices();
        look_at_escrow();
        look_at_bid();
        look_.wait =
            wait_for(state_, {.classes = classes_, .lots = std::max(1U, look_.gang), .price = cap()});
    }

    void look_at_prices() {
        std::optional<Amount> least;
        for (const LotClass& kind : classes_) {
            const Amount price = next_.base_price(kind);
            least = least ? std::min(*least, price) : price;
        }
        if (least && *least > cap()) {
            add(lacking("base_above_cap",
                        "the lowest base price of a class that does is " + base::to_text(*least) +
                            ", and the job pays " + base::to_text(cap()) + " at most",
                        least->units(), cap().units(), "base units"));
        }
        cheapest_ = least.value_or(next_.params().least_base_price);
    }

    [[nodiscard]] std::optional<Amount> cost_at(Amount price) const {
        return contracts::round_cost(contracts::params_of(state_, job_), job_.spec, price, job_.slot_work);
    }

    void look_at_escrow() {
        const auto record = contracts::read_lot_bid(state_, job_.id);
        const Amount price = record && record->opened ? record->price : std::min(cheapest_, cap());
        const auto cost = cost_at(price);
        if (cost && job_.escrow >= *cost) return;
        add(lacking("escrow_too_small",
                    "a round costs up to " +
                        (cost ? base::to_text(*cost) : std::string("more than there is")) + " at " +
                        base::to_text(price) + " a work unit, and the escrow holds " +
                        base::to_text(job_.escrow) + ": top it up with assay job topup",
                    cost ? cost->units() : base::kAmountMax, job_.escrow.units(), "base units"));
    }

    void look_at_bid() {
        if (const auto wait = contracts::read_lot_wait(state_, job_.id)) return look_at_queue(*wait);
        const auto bid = contracts::read_lot_bid(state_, job_.id);
        const contracts::MarketClock& clock = next_.clock();
        if (!bid) {
            return add(plain("no_bid", "the job has no bid for the next clearing; " + next_.sealing_text()));
        }
        if (!bid->opened) {
            if (clock.phase != MarketPhase::kOpening) return add(next_.sealed("bid_sealed", "bid"));
            return add(lacking("bid_not_opened",
                               "the bid is sealed, and has to be opened before block " +
                                   std::to_string(clock.clear_at) + ", or its deposit is burned",
                               clock.clear_at, height_, "blocks"));
        }
        const Amount base_price = next_.base_price(bid->kind);
        if (bid->price < base_price) {
            return add(lacking("price_below_base",
                               "the bid of " + base::to_text(bid->price) + " is below the base price of " +
                                   class_code(bid->kind) + ", " + base::to_text(base_price),
                               base_price.units(), bid->price.units(), "base units"));
        }
        const auto sale = next_.last_sale(bid->kind);
        if (sale && bid->price < *sale->lowest) {
            add(lacking("price_below_last",
                        "the bid of " + base::to_text(bid->price) +
                            " is below all that the class last sold for, " + base::to_text(*sale->lowest) +
                            " and more",
                        sale->lowest->units(), bid->price.units(), "base units"));
        }
    }

    /// Who waits for lots of the same class that the next clearing leaves, by what it is owed.
    void look_at_queue(const contracts::LotWait& own) {
        const auto owed = [&](const contracts::LotWait& wait) {
            contracts::TenantCount count = contracts::read_tenant(state_, wait.tenant, wait.kind);
            count.entitled /= 2;  // as the clearing will see it
            count.received /= 2;
            return count.owed();
        };
        const std::uint64_t mine = owed(own);
        std::uint64_t before = 0;
        std::uint64_t lots_before = 0;
        std::uint64_t ties = 0;
        std::uint64_t all = 0;
        for (const auto& [job, wait] : contracts::list_lot_waits(state_)) {
            if (wait.kind != own.kind) continue;
            ++all;
            if (job == job_.id) continue;
            const std::uint64_t theirs = owed(wait);
            ties += theirs == mine ? 1U : 0U;
            if (theirs <= mine) continue;
            ++before;
            lots_before += wait.lots;
        }
        std::string place = "place " + std::to_string(before + 1);
        if (ties > 0) place += " to " + std::to_string(before + ties + 1);
        add(lacking("waits",
                    "the job waits for " + counted(own.lots, "lot") + " of " + class_code(own.kind) +
                        " that the next clearing leaves: " + place + " of " + std::to_string(all) + ", " +
                        counted(lots_before, "lot") + " before it",
                    lots_before + own.lots, look_.lots.fit, "lots"));
    }

    const contracts::StateView& state_;
    std::uint64_t height_;
    const contracts::Job& job_;
    NextClearing next_;
    JobOutlook look_;
    std::vector<LotClass> classes_;  ///< that do for the job, whatever they cost
    LotsByClass payable_;            ///< of those, at a base price that it pays
    std::uint64_t working_ = 0;      ///< leased lots of the running epoch that can hold a slot
    Amount cheapest_;
};

class MinerLook {
public:
    MinerLook(const contracts::StateView& state, std::uint64_t height, const PublicKey& node)
        : state_(state), height_(height), next_(state, height) {
        look_.node = node;
    }

    MinerOutlook take(const StepBytes& step_bytes) {
        bool works = false;
        for (const std::uint64_t epoch : {next_.clock().epoch, next_.clock().epoch + 1}) {
            const auto lot = contracts::read_lot(state_, epoch, look_.node);
            if (!lot || lot->job.is_zero()) continue;
            const auto lease = contracts::read_lease(state_, lot->job, look_.node, epoch);
            if (!lease) continue;
            look_.leases.push_back({lot->job, lease->price, epoch});
            works |= epoch == next_.clock().epoch;
        }
        if (!look_.leases.empty() && !works) add(next_.begins("its lease begins"));
        const auto ask = contracts::read_lot_ask(state_, look_.node);
        if (!ask) {
            look_without_ask();
        } else if (!ask->opened) {
            look_at_seal();
        } else {
            look_.kind = ask->kind;
            look_.ask = ask->price;
            look_.epochs = ask->epochs;
            look_at_class(*ask);
            look_at_price(*ask);
            look_at_jobs(*ask, step_bytes);
        }
        return std::move(look_);
    }

private:
    void add(Obstacle obstacle) { look_.obstacles.push_back(std::move(obstacle)); }

    void look_without_ask() {
        const Amount free = contracts::read_stake(state_, look_.node).free;
        const Amount deposit = next_.params().lot_deposit;
        if (free < deposit) {
            add(lacking("stake_too_small",
                        "a sealed lot holds " + base::to_text(deposit) + " of free stake, and there are " +
                            base::to_text(free) + ": add to it with assay stake add",
                        deposit.units(), free.units(), "base units"));
        }
        add(plain("no_ask", "the miner offers no lot; " + next_.sealing_text()));
    }

    void look_at_seal() {
        const contracts::MarketClock& clock = next_.clock();
        if (clock.phase != MarketPhase::kOpening) return add(next_.sealed("ask_sealed", "lot"));
        add(lacking("ask_not_opened",
                    "the lot is sealed, and has to be opened before block " + std::to_string(clock.clear_at) +
                        ", or its deposit is burned",
                    clock.clear_at, height_, "blocks"));
    }

    void look_at_class(const contracts::LotAsk& ask) {
        const contracts::MachineSpeed machine = contracts::read_machine(state_, look_.node, ask.kind.profile);
        const auto measured = machine.speed_bits();
        if (!measured) {
            return add(
                plain("probation",
                      "no round of the miner has shown its speed yet: " + base::to_text(machine.deposit) +
                          " stand behind its class until a lease ends, and are burned where "
                          "two or more bits of speed are missing"));
        }
        if (*measured < ask.kind.speed) {
            add(lacking("class_too_fast",
                        "the lot is offered as of speed " + std::to_string(ask.kind.speed) + " (" +
                            speed_words(ask.kind.speed) + " work units a block), and its rounds have shown " +
                            std::to_string(*measured) + " (" + speed_words(*measured) +
                            "): it is set aside at the clearing",
                        ask.kind.speed, *measured, "bits of speed"));
        }
    }

    void look_at_price(const contracts::LotAsk& ask) {
        const auto sale = next_.last_sale(ask.kind);
        if (sale && ask.price > *sale->highest) {
            add(lacking("price_above_last",
                        "the ask of " + base::to_text(ask.price) +
                            " is above all that the class last sold for, " + base::to_text(*sale->highest) +
                            " and less",
                        sale->highest->units(), ask.price.units(), "base units"));
        }
        const Amount base_price = next_.base_price(ask.kind);
        if (ask.price > base_price) {
            add(lacking("price_above_base",
                        "an ask above the base price, " + base::to_text(base_price) +
                            ", is for bids alone: a lot that no bid takes is left to nobody",
                        base_price.units(), ask.price.units(), "base units"));
        }
    }

    /// Which jobs could take the lot, and what keeps the others from it.
    void look_at_jobs(const contracts::LotAsk& ask, const StepBytes& step_bytes) {
        FittingLots jobs;  // jobs, not lots: the same bins
        std::uint8_t most_memory = 0;
        std::uint64_t too_large = 0;
        std::uint64_t largest = 0;
        for (const base::Hash256& id : contracts::list_active_jobs(state_)) {
            const auto terms = contracts::read_job_terms(state_, id);
            if (!terms || !terms->leases()) continue;
            most_memory = std::max(most_memory, terms->spec.market.terms.least_memory);
            std::uint64_t& bin =
                bin_of(jobs, *terms, ask.kind, std::max(ask.price, next_.base_price(ask.kind)));
            ++bin;
            if (&bin != &jobs.fit) continue;
            const std::uint64_t bytes = step_bytes(terms->spec).value_or(0);
            if (bytes <= least_bytes(ask.kind.memory)) continue;
            ++too_large;
            largest = std::max(largest, bytes);
        }
        if (too_large > 0) {
            add(lacking("memory_does_not_fit",
                        counted(too_large, "job") +
                            " would take the lot and may not fit its machine: a step needs up to " +
                            std::to_string(gib_up(largest)) + " GiB, and the lot is of " +
                            size_words(ask.kind.memory) + " GiB",
                        gib_up(largest), least_bytes(ask.kind.memory) / kGiB, "GiB"));
        }
        if (jobs.fit > 0) return;
        if (jobs.all() == 0) return add(plain("no_job", "no job that goes on leases machines"));
        std::string text = counted(jobs.all(), "job") + " lease machines, and none takes this lot:";
        const auto say = [&](std::uint64_t count, const std::string& why) {
            if (count > 0) text += " " + std::to_string(count) + " " + why + ";";
        };
        say(jobs.other_profile, "of another profile");
        say(jobs.too_slow, "want a faster one");
        say(jobs.too_little_memory, "want more memory, up to " + size_words(most_memory) +
                                        " GiB, and it has " + size_words(ask.kind.memory));
        say(jobs.too_little_network, "want more network");
        say(jobs.above_cap, "pay less");
        text.pop_back();
        add(plain("no_job_fits", std::move(text)));
    }

    const contracts::StateView& state_;
    std::uint64_t height_;
    NextClearing next_;
    MinerOutlook look_;
};

}  // namespace

std::map<PublicKey, LotClass> lots_on_offer(const contracts::StateView& state) {
    std::map<PublicKey, LotClass> found;
    for (const auto& [node, ask] : contracts::list_lot_asks(state))
        if (ask.opened) found.emplace(node, ask.kind);
    const std::uint64_t running = contracts::read_market_clock(state).epoch;
    for (const std::uint64_t epoch : {running, running + 1})
        for (const auto& [node, lot] : contracts::list_lots(state, epoch))
            if (lot.job.is_zero()) found.emplace(node, lot.kind);
    return found;
}

JobOutlook job_outlook(const contracts::StateView& state, std::uint64_t height, const contracts::Job& job,
                       const StepBytes& step_bytes) {
    return JobLook(state, height, job).take(step_bytes);
}

MinerOutlook miner_outlook(const contracts::StateView& state, std::uint64_t height, const PublicKey& node,
                           const StepBytes& step_bytes) {
    return MinerLook(state, height, node).take(step_bytes);
}

}  // namespace assay::node
