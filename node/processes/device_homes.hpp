// SPDX-License-Identifier: Apache-2.0
// Gives a miner's home the homes of its devices when each device has its own miner. HOME/devices/cuda-0 has
// its own node key, stake, blobs and notes, and the owner of HOME.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/key/key_file.hpp"
#include "node/runtime/home.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// The home of this device's miner ("cuda:0"), whether or not it exists.
Home device_home(const Home& home, const std::string& device);

/// The homes that exist, ordered by name: folders of HOME/devices with a node key.
std::vector<Home> device_homes(const Home& home);

/// HOME, whose own miner may not exist, and device_homes().
std::vector<Home> miner_homes(const Home& home);

/// Calls `act` on the notes of HOME's own miner and of each device's miner. Stops at the first error.
base::Outcome<void> for_each_miner_home(const Home& home,
                                        const std::function<base::Outcome<void>(DiskPort& notes)>& act);

/// Makes the device's home at the first start: its folders, copies of HOME's order and ask for its miner
/// (work_order.hpp, price_order.hpp), and a node key that `passphrase` opens, protected as the node key of
/// HOME is. Changes nothing in a home that exists. Errors: kKey when HOME has no node key, or the passphrase
/// does not open it; kFailure when HOME's order or ask cannot be read; else those of create_home and
/// create_key_file.
base::Outcome<void> make_device_home(const Home& home, const std::string& device,
                                     const Passphrase& passphrase);

}  // namespace assay::node
