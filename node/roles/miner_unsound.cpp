// SPDX-License-Identifier: Apache-2.0
// What a miner forgets when a device of its turns out to compute other bits: all that is not committed.
#include <algorithm>
#include <utility>

#include "node/roles/job_note.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace {

/// What was set aside of a slot, the oldest first: several where one device after the other was found out.
struct DoubtedWorks {
    std::vector<SlotWork> works;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.works);
    }
};

std::string doubted_note(const base::Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return job_note("doubted", job, {round, slot});
}

bool is_of(const SlotWork& work, const std::string& device) {
    return std::find(work.devices.begin(), work.devices.end(), device) != work.devices.end();
}

}  // namespace

// Trainings of slots that are not committed begin again at their start. What is committed is sealed, and
// stays.
bool MinerRole::forget_work_of(const std::string& device) {
    take_over_notes();
    for (auto& [key, work] : works_) {
        if (!is_of(work, device)) continue;
        const auto slot = contracts::read_slot(state(), work.job, work.round, work.slot);
        if (!slot || slot->committed) continue;
        // Its commit may be on its way to the ledger, and what that seals has to be opened.
        if (work.complete && !set_aside(work)) return false;
        if (!lose(work, "a device that trained it computes other bits")) return false;
        // Another device goes on from what is lost; what it still gives does not join on to the start.
        if (const auto training = training_.find(key); training != training_.end())
            parts().seams.worker.cancel(training->second.request);
    }
    return true;
}

bool MinerRole::set_aside(const SlotWork& work) {
    std::vector<SlotWork>& works = doubted_of({work.job, work.round, work.slot});
    works.push_back(work);
    auto written = parts().seams.disk.write(doubted_note(work.job, work.round, work.slot),
                                            base::encode(DoubtedWorks{works}));
    if (!written.ok()) fail_with(OwnFailure::kNotes, written.error());
    return written.ok();
}

std::vector<SlotWork>& MinerRole::doubted_of(const SlotKey& key) {
    auto [found, inserted] = doubted_.try_emplace(key);
    if (!inserted) return found->second;
    const auto& [job, round, slot] = key;
    auto kept = parts().seams.disk.read(doubted_note(job, round, slot));
    if (!kept.ok()) {
        fail_with(OwnFailure::kNotes, kept.error());
    } else if (kept->has_value()) {
        if (auto noted = base::decode<DoubtedWorks>(**kept); noted.ok())
            found->second = std::move(noted).value().works;
        std::erase_if(found->second, [&](const SlotWork& work) {
            return SlotKey{work.job, work.round, work.slot} != key;
        });
    }
    return found->second;
}

void MinerRole::forget_doubted(const SlotKey& key) {
    const auto& [job, round, slot] = key;
    if (!doubted_of(key).empty()) (void)parts().seams.disk.remove(doubted_note(job, round, slot));
    doubted_.erase(key);
}

const SlotWork& MinerRole::sealed_work(const contracts::Job& job, const contracts::SlotRound& slot) {
    const SlotKey key{job.id, job.round, slot.slot};
    SlotWork& work = work_of(key);
    std::vector<SlotWork>& doubted = doubted_of(key);
    const auto is_sealed = [&](const SlotWork& one) {
        return one.complete && contracts::commit_seal(chain_id(), statement_of(job, one)) == slot.seal;
    };
    if (doubted.empty() || is_sealed(work)) return work;
    const auto found = std::find_if(doubted.begin(), doubted.end(), is_sealed);
    if (found == doubted.end()) return work;
    log().warn(round_name(job.id, job.round) + " slot " + std::to_string(slot.slot) +
               " was committed before its device was found out; it is opened as it was sealed");
    SlotWork sealed = *found;
    if (!store(sealed)) return work;
    work = std::move(sealed);
    if (const auto training = training_.find(key); training != training_.end())
        parts().seams.worker.cancel(training->second.request);
    return work;
}

}  // namespace assay::node
