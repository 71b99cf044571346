// SPDX-License-Identifier: Apache-2.0
#include "node/sim/epochs/world.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/seals.hpp"
#include "contracts/rules/market/tables.hpp"
#include "node/sim/epochs/chain.hpp"
#include "node/sim/epochs/chances.hpp"
#include "node/sim/epochs/entries.hpp"

namespace assay::node::sim {

namespace {

using base::Amount;
using base::Hash256;
using contracts::LotClass;

constexpr std::uint32_t kRingMembers = 5;

Amount amount(std::uint64_t units) { return Amount::of(units).value(); }

/// Work units of a lot, beside those of the slowest class.
double weight_of(const LotClass& kind) { return std::ldexp(1.0, kind.speed - 10); }

/// What the people of a simulation get of it.
struct Utilities {
    std::vector<double> owners;
    std::vector<double> jobs;
};

/// A job that is at the market, and what it has had.
struct Customer {
    Hash256 id;
    std::uint32_t done = 0;      ///< epochs with its gang
    bool was_priced_in = false;  ///< lots of a class that does cost no more than its value
    std::optional<LotClass> chosen;
    bool bids = false;
    bool opens = false;
};

class EpochsWorld {
public:
    EpochsWorld(const MarketPeople& people, MarketPlay play, const MarketSize& size, std::uint64_t seed,
                MarketChain chain)
        : people_(people), play_(play), size_(size), seed_(seed), chain_(std::move(chain)) {
        got_.owners.resize(people.owners.size());
        got_.jobs.resize(people.jobs.size());
        customers_.resize(people.jobs.size());
        received_.resize(people.tenants.size());
        asked_.resize(people.tenants.size());
    }

    base::Outcome<void> run();
    [[nodiscard]] const Utilities& utilities() const { return got_; }
    [[nodiscard]] EpochsRow row() const;

private:
    base::Outcome<void> register_everybody();
    base::Outcome<void> submit(std::size_t job);
    base::Outcome<void> arrive_and_leave(std::uint32_t epoch);
    base::Outcome<void> seal(std::uint32_t epoch);
    base::Outcome<void> open(std::uint32_t epoch);
    base::Outcome<void> take_what_is_left();
    void account(std::uint32_t epoch);

    [[nodiscard]] bool plays(MarketPlay play, bool player) const { return play_ == play && player; }
    [[nodiscard]] bool is_offered(std::uint32_t epoch, std::size_t machine) const;
    [[nodiscard]] bool is_there(std::size_t job) const { return !customers_[job].id.is_zero(); }
    /// Of the classes that do, the one that cost least the last time.
    [[nodiscard]] std::optional<LotClass> choose(std::size_t job, std::uint32_t epoch) const;
    [[nodiscard]] std::uint64_t bid_of(std::size_t job) const;
    /// Whether a player bids itself; those of a ring but one do not.
    [[nodiscard]] bool bids(std::size_t job) const;
    [[nodiscard]] double best_welfare(std::uint32_t epoch) const;
    [[nodiscard]] double paid_last(const LotClass& kind) const;

    const MarketPeople& people_;
    MarketPlay play_;
    MarketSize size_;
    std::uint64_t seed_;
    MarketChain chain_;
    Utilities got_;
    std::vector<Customer> customers_;   ///< of each job
    std::vector<std::size_t> offered_;  ///< machines of this epoch
    std::map<base::PublicKey, std::size_t> machine_of_;
    std::map<LotClass, std::uint32_t> machines_in_;
    std::map<LotClass, double> last_price_;
    std::vector<double> received_, asked_;  ///< lots, of each tenant
    double welfare_ = 0, best_ = 0, revenue_ = 0, clearing_ms_ = 0, epoch_ms_ = 0;
    std::uint32_t starved_ = 0;
    std::vector<EpochFigures> course_;
};

base::Outcome<void> EpochsWorld::register_everybody() {
    for (std::size_t i = 0; i < people_.machines.size(); ++i) {
        const SimMachine& machine = people_.machines[i];
        ASSAY_TRY(register_machine(chain_, people_.owners[machine.owner].key, machine));
        machine_of_[machine.node.public_key()] = i;
        ++machines_in_[machine.kind];
    }
    for (const SimTenant& tenant : people_.tenants) ASSAY_TRY(register_tenant(chain_, tenant));
    return {};
}

base::Outcome<void> EpochsWorld::submit(std::size_t number) {
    const SimJob& job = people_.jobs[number];
    ASSAY_ASSIGN(customers_[number].id, submit_job(chain_, people_.tenants[job.tenant],
                                                   {.number = number,
                                                    .lots = job.lots,
                                                    .speed = job.speed,
                                                    .memory = job.memory,
                                                    .network = job.network}));
    return {};
}

base::Outcome<void> EpochsWorld::arrive_and_leave(std::uint32_t epoch) {
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        const SimJob& job = people_.jobs[i];
        if (job.washes && play_ != MarketPlay::kWash) continue;
        Customer& customer = customers_[i];
        if (job.arrives == epoch) ASSAY_TRY(submit(i));
        const bool leaves = customer.done >= job.epochs || epoch >= job.arrives + job.patience;
        if (!is_there(i) || !leaves) continue;
        if (customer.done == 0 && customer.was_priced_in && !job.washes) ++starved_;
        ASSAY_TRY(must_apply(chain_.send(people_.tenants[job.tenant].key, contracts::JobCancel{customer.id}),
                             "the end of a job"));
        customer.id = {};
    }
    return {};
}

bool EpochsWorld::is_offered(std::uint32_t epoch, std::size_t machine) const {
    if (happens(size_.churn, dice(seed_, "away", epoch, machine))) return false;
    const bool withholds =
        plays(MarketPlay::kWithholding, people_.owners[people_.machines[machine].owner].plays);
    return !withholds || machine % 2 == 0;
}

double EpochsWorld::paid_last(const LotClass& kind) const {
    const auto found = last_price_.find(kind);
    return found == last_price_.end() ? 0 : found->second;
}

std::optional<LotClass> EpochsWorld::choose(std::size_t number, std::uint32_t epoch) const {
    const SimJob& job = people_.jobs[number];
    if (job.washes) return people_.machines[*job.washes * kMachinesOfAnOwner].kind;
    std::optional<LotClass> best;
    std::pair<double, std::uint64_t> least;
    for (const auto& [kind, machines] : machines_in_) {
        if (kind.speed < job.speed || kind.memory < job.memory || kind.network < job.network ||
            machines < job.lots)
            continue;
        const std::pair candidate{
            paid_last(kind), dice(seed_, "class", epoch,
                                  number * 10'000 + kind.network * 256U + kind.speed * 16U + kind.memory)};
        if (best && !(candidate < least)) continue;
        best = kind;
        least = candidate;
    }
    return best;
}

std::uint64_t EpochsWorld::bid_of(std::size_t job) const {
    const SimJob& one = people_.jobs[job];
    return plays(MarketPlay::kShading, one.plays) ? one.value * 4 / 5 : one.value;
}

bool EpochsWorld::bids(std::size_t number) const {
    const SimJob& job = people_.jobs[number];
    if (plays(MarketPlay::kSniping, job.plays)) return false;
    if (!plays(MarketPlay::kRing, job.plays)) return true;
    // Of those of its ring that want the same class, the one to whom it is worth most bids.
    const std::size_t ring = number / kRingMembers;
    for (std::size_t i = ring * kRingMembers; i < std::min((ring + 1) * kRingMembers, people_.jobs.size());
         ++i) {
        const SimJob& other = people_.jobs[i];
        if (i == number || !other.plays || !is_there(i) || customers_[i].chosen != customers_[number].chosen)
            continue;
        if (std::pair(other.value, i) > std::pair(job.value, number)) return false;
    }
    return true;
}

base::Outcome<void> EpochsWorld::seal(std::uint32_t epoch) {
    offered_.clear();
    for (std::size_t i = 0; i < people_.machines.size(); ++i) {
        if (!is_offered(epoch, i)) continue;
        offered_.push_back(i);
        const SimMachine& machine = people_.machines[i];
        const Hash256 seal = contracts::lot_seal(chain_.chain_id(), machine.node.public_key(), machine.kind,
                                                 amount(machine.cost), 1, salt_of(machine.node, epoch));
        ASSAY_TRY(must_apply(chain_.send(machine.node, contracts::LotSeal{seal}), "a sealed lot"));
    }
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        Customer& customer = customers_[i];
        customer.chosen = is_there(i) ? choose(i, epoch) : std::nullopt;
    }
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        Customer& customer = customers_[i];
        customer.bids = customer.chosen && bids(i);
        if (!customer.bids) continue;
        const SimTenant& tenant = people_.tenants[people_.jobs[i].tenant];
        const Hash256 seal =
            contracts::bid_seal(chain_.chain_id(), customer.id, *customer.chosen, people_.jobs[i].lots,
                                amount(bid_of(i)), salt_of(tenant.node, epoch * 100'000 + i));
        ASSAY_TRY(
            must_apply(chain_.send(tenant.node, contracts::BidSeal{customer.id, seal}), "a sealed bid"));
    }
    return {};
}

base::Outcome<void> EpochsWorld::open(std::uint32_t epoch) {
    const auto breaks_off = [&](bool player, std::string_view what, std::size_t number) {
        return plays(MarketPlay::kSpotAndRun, player) && dice(seed_, what, epoch, number) % 2 == 0;
    };
    std::erase_if(offered_, [&](std::size_t i) {
        return breaks_off(people_.owners[people_.machines[i].owner].plays, "lot", i);
    });
    for (const std::size_t i : offered_) {
        const SimMachine& machine = people_.machines[i];
        ASSAY_TRY(must_apply(chain_.send(machine.node, contracts::LotOpen{machine.kind, amount(machine.cost),
                                                                          1, salt_of(machine.node, epoch)}),
                             "an opened lot"));
    }
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        Customer& customer = customers_[i];
        customer.opens = customer.bids && !breaks_off(people_.jobs[i].plays, "bid", i);
        if (!customer.opens) continue;
        const SimTenant& tenant = people_.tenants[people_.jobs[i].tenant];
        ASSAY_TRY(must_apply(
            chain_.send(tenant.node,
                        contracts::BidOpen{customer.id, *customer.chosen, people_.jobs[i].lots,
                                           amount(bid_of(i)), salt_of(tenant.node, epoch * 100'000 + i)}),
            "an opened bid"));
    }
    return {};
}

/// Whoever has no lots takes what is left where the base price is not above what they are worth to it.
base::Outcome<void> EpochsWorld::take_what_is_left() {
    const std::uint64_t epoch = contracts::read_market_clock(chain_.state()).epoch;
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        const SimJob& job = people_.jobs[i];
        const Customer& customer = customers_[i];
        if (job.washes || !customer.chosen) continue;
        if (!contracts::leases_at(chain_.state(), customer.id, chain_.height()).empty()) continue;
        const auto cleared = contracts::read_class_epoch(chain_.state(), *customer.chosen, epoch);
        if (!cleared || cleared->base_price.units() > job.value) continue;
        if (contracts::list_lots_left(chain_.state(), epoch, *customer.chosen, job.lots).size() < job.lots)
            continue;
        const SimTenant& tenant = people_.tenants[job.tenant];
        ASSAY_TRY(must_apply(
            chain_.send(tenant.node, contracts::LeaseTake{customer.id, *customer.chosen, job.lots, false}),
            "an instant lease"));
    }
    return {};
}

/// The best that could be had of this epoch: each class's values descending beside its costs ascending.
double EpochsWorld::best_welfare(std::uint32_t epoch) const {
    std::map<LotClass, std::pair<std::vector<double>, std::vector<double>>> classes;
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        const SimJob& job = people_.jobs[i];
        if (job.washes || !customers_[i].chosen) continue;
        auto& values = classes[*customers_[i].chosen].first;
        values.insert(values.end(), job.lots, static_cast<double>(job.value));
    }
    for (std::size_t i = 0; i < people_.machines.size(); ++i) {
        if (happens(size_.churn, dice(seed_, "away", epoch, i))) continue;
        classes[people_.machines[i].kind].second.push_back(static_cast<double>(people_.machines[i].cost));
    }
    double best = 0;
    for (auto& [kind, both] : classes) {
        auto& [values, costs] = both;
        std::sort(values.begin(), values.end(), std::greater<>());
        std::sort(costs.begin(), costs.end());
        for (std::size_t i = 0; i < std::min(values.size(), costs.size()) && values[i] > costs[i]; ++i)
            best += (values[i] - costs[i]) * weight_of(kind);
    }
    return best;
}

void EpochsWorld::account(std::uint32_t epoch) {
    EpochFigures figures{.epoch = epoch, .offered = static_cast<std::uint32_t>(offered_.size())};
    const double best = best_welfare(epoch);
    double paid = 0;
    double welfare = 0;
    std::map<LotClass, std::pair<double, std::uint32_t>> prices;
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        const SimJob& job = people_.jobs[i];
        Customer& customer = customers_[i];
        if (!customer.chosen) continue;
        figures.wanted += job.lots;
        const auto leases = contracts::leases_at(chain_.state(), customer.id, chain_.height());
        if (!job.washes) {
            asked_[job.tenant] += job.lots;
            received_[job.tenant] += static_cast<double>(leases.size());
        }
        const bool works = leases.size() >= job.lots && !job.washes;
        for (const contracts::Lease& lease : leases) {
            const SimMachine& machine = people_.machines[machine_of_.at(lease.node)];
            const double weight = weight_of(lease.kind);
            const auto price = static_cast<double>(lease.price.units());
            const double value = works ? static_cast<double>(job.value) : 0;
            const double cost = job.washes ? 0 : static_cast<double>(machine.cost);
            got_.jobs[i] += (value - price) * weight;
            got_.owners[machine.owner] += (price - cost) * weight;
            welfare += (value - cost) * weight;
            paid += price;
            revenue_ += price / static_cast<double>(base::kUnitsPerToken);
            ++figures.sold;
            auto& [sum, count] = prices[lease.kind];
            sum += price;
            ++count;
        }
        customer.done += works ? 1 : 0;
    }
    welfare_ += welfare;
    best_ += best;
    if (figures.sold > 0) figures.price = paid / figures.sold;
    const auto books = contracts::list_class_books(chain_.state());
    for (const auto& [kind, book] : books) {
        figures.base_price +=
            static_cast<double>(book.base_price.units()) / static_cast<double>(books.size());
        last_price_[kind] = static_cast<double>(book.base_price.units());
    }
    for (const auto& [kind, both] : prices) last_price_[kind] = both.first / both.second;
    for (std::size_t i = 0; i < people_.jobs.size(); ++i) {
        Customer& customer = customers_[i];
        if (customer.chosen && prices.contains(*customer.chosen) &&
            paid_last(*customer.chosen) <= static_cast<double>(people_.jobs[i].value))
            customer.was_priced_in = true;
    }
    course_.push_back(figures);
}

base::Outcome<void> EpochsWorld::run() {
    ASSAY_TRY(register_everybody());
    for (std::uint32_t epoch = 0; epoch < size_.epochs; ++epoch) {
        const auto began = std::chrono::steady_clock::now();
        ASSAY_TRY(arrive_and_leave(epoch));
        ASSAY_TRY(seal(epoch));
        contracts::MarketClock clock = contracts::read_market_clock(chain_.state());
        if (clock.phase == contracts::MarketPhase::kStopped) {
            course_.push_back({.epoch = epoch});
            continue;
        }
        chain_.advance_to(clock.open_at);
        ASSAY_TRY(open(epoch));
        clearing_ms_ = std::max(clearing_ms_, chain_.advance_to(clock.clear_at));
        chain_.advance_to(clock.end);
        ASSAY_TRY(take_what_is_left());
        epoch_ms_ = std::max(
            epoch_ms_,
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
        account(epoch);
    }
    return chain_.check();
}

EpochsRow EpochsWorld::row() const {
    EpochsRow row;
    row.clearing_ms = clearing_ms_;
    row.epoch_ms = epoch_ms_;
    row.welfare_ratio = best_ > 0 ? welfare_ / best_ : 1;
    row.revenue = revenue_;
    double sum = 0, squares = 0;
    std::size_t epochs = 0;
    for (const EpochFigures& one : course_) {
        if (one.sold == 0) continue;
        sum += one.price;
        squares += one.price * one.price;
        ++epochs;
    }
    if (epochs > 0) {
        const double mean = sum / static_cast<double>(epochs);
        row.price_sd = std::sqrt(std::max(0.0, squares / static_cast<double>(epochs) - mean * mean)) / mean;
    }
    double shares = 0, share_squares = 0;
    std::size_t tenants = 0;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        if (asked_[i] == 0) continue;
        const double share = received_[i] / asked_[i];
        shares += share;
        share_squares += share * share;
        ++tenants;
    }
    row.jain = share_squares > 0 ? shares * shares / (static_cast<double>(tenants) * share_squares) : 1;
    row.starved = starved_;
    row.transactions = chain_.transactions();
    row.course = course_;
    return row;
}

/// What the players got in all.
double earned(const MarketPeople& people, const Utilities& got) {
    double sum = 0;
    for (std::size_t i = 0; i < people.owners.size(); ++i) sum += people.owners[i].plays ? got.owners[i] : 0;
    for (std::size_t i = 0; i < people.jobs.size(); ++i) sum += people.jobs[i].plays ? got.jobs[i] : 0;
    return sum;
}

}  // namespace

base::Outcome<EpochsRow> play_market(const MarketScenario& scenario, const MarketSize& size,
                                     std::uint64_t seed) {
    const MarketPeople people = make_population(size, scenario, seed);
    const auto play = [&](MarketPlay played) -> base::Outcome<std::pair<EpochsRow, double>> {
        ASSAY_ASSIGN(MarketChain chain, begin_chain(people));
        EpochsWorld world(people, played, size, seed, std::move(chain));
        ASSAY_TRY(world.run());
        return std::pair(world.row(), earned(people, world.utilities()));
    };
    ASSAY_ASSIGN(auto played, play(scenario.play));
    EpochsRow row = std::move(played.first);
    if (scenario.play != MarketPlay::kTruthful) {
        ASSAY_ASSIGN(const auto truthful, play(MarketPlay::kTruthful));
        if (truthful.second != 0) row.gain = (played.second - truthful.second) / std::abs(truthful.second);
    }
    row.scenario = scenario.name;
    row.seed = seed;
    row.miners = size.miners;
    row.jobs = size.jobs;
    row.epochs = size.epochs;
    return row;
}

}  // namespace assay::node::sim
