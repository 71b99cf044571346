// SPDX-License-Identifier: Apache-2.0
// Gives a miner's home the homes of its devices, where each device has a miner of its own:
// HOME/devices/cuda-0, with a node key, stake, blobs and notes of its own, under the owner of HOME.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/key/key_file.hpp"
#include "node/runtime/home.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

/// Where the miner of this device ("cuda:0") has its home, made or not.
Home device_home(const Home& home, const std::string& device);

/// Those that have been made, in the order of their names: folders of HOME/devices with a node key.
std::vector<Home> device_homes(const Home& home);

/// Does the same to the notes of HOME's own miner and of each device's. The first error ends it.
base::Outcome<void> for_each_miner_home(const Home& home,
                                        const std::function<base::Outcome<void>(DiskPort& notes)>& act);

/// Makes it at the first start: its folders, HOME's order and ask for its miner (miner_order.hpp,
/// price_order.hpp), and a node key that `passphrase` opens, protected as the node key of HOME is. Nothing of
/// one that is there is changed. Errors: kKey when HOME has no node key, or the passphrase does not open it;
/// kFailure when HOME's order or ask cannot be read; else those of create_home and create_key_file.
base::Outcome<void> make_device_home(const Home& home, const std::string& device,
                                     const Passphrase& passphrase);

}  // namespace assay::node
