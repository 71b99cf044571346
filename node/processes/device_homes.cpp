// SPDX-License-Identifier: Apache-2.0
#include "node/processes/device_homes.hpp"

#include <algorithm>
#include <filesystem>

#include "node/roles/price_order.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"

namespace assay::node {

namespace {

/// What the owner last ordered at HOME holds for a device that comes later, too.
base::Outcome<void> take_over_orders(const Home& home, const Home& made) {
    ASSAY_ASSIGN(const auto orders, make_disk_port(home.jobs()));
    ASSAY_ASSIGN(const auto notes, make_disk_port(made.jobs()));
    ASSAY_ASSIGN(const WorkOrder order, read_order(*orders, WorkRole::kMiner));
    ASSAY_TRY(write_order(*notes, WorkRole::kMiner, order));
    ASSAY_ASSIGN(const auto ask, read_price_order(*orders, ask_order_note()));
    return write_price_order(*notes, ask_order_note(), ask);
}

}  // namespace

Home device_home(const Home& home, const std::string& device) {
    std::string name = device;
    std::replace(name.begin(), name.end(), ':', '-');
    return Home{home.devices() / name};
}

std::vector<Home> device_homes(const Home& home) {
    std::vector<Home> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(home.devices(), error)) {
        Home one{entry.path()};
        if (std::filesystem::exists(one.node_key(), error)) found.push_back(std::move(one));
    }
    std::sort(found.begin(), found.end(), [](const Home& a, const Home& b) { return a.root < b.root; });
    return found;
}

std::vector<Home> miner_homes(const Home& home) {
    std::vector<Home> homes = device_homes(home);
    homes.insert(homes.begin(), home);
    return homes;
}

base::Outcome<void> for_each_miner_home(const Home& home,
                                        const std::function<base::Outcome<void>(DiskPort& notes)>& act) {
    for (const Home& one : miner_homes(home)) {
        ASSAY_ASSIGN(const auto notes, make_disk_port(one.jobs()));
        ASSAY_TRY(act(*notes));
    }
    return {};
}

base::Outcome<void> make_device_home(const Home& home, const std::string& device,
                                     const Passphrase& passphrase) {
    const Home made = device_home(home, device);
    ASSAY_TRY(create_home(made));
    if (std::filesystem::exists(made.node_key())) return {};
    // A mistyped passphrase must not close a new key.
    ASSAY_TRY(open_key_file(home.node_key(), passphrase, KeyRole::kNode));
    ASSAY_ASSIGN(const KeyFileInfo like, inspect_key_file(home.node_key()));
    // Before the key, with which the home counts as made.
    ASSAY_TRY(take_over_orders(home, made));
    ASSAY_TRY(create_key_file(made.node_key(), passphrase,
                              {.role = KeyRole::kNode, .protection = like.protection}));
    return {};
}

}  // namespace assay::node
