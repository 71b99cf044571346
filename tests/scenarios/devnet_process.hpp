// SPDX-License-Identifier: Apache-2.0
// `assay devnet up` as a person runs it, and commands of the built program for its homes.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "node/devnet/network.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace assay::tests {

/// How long a scenario waits for what must come: far longer than it takes on a machine with much else to do.
inline constexpr std::chrono::seconds kLongest{300};

/// A local network of its own process, in a temporary folder. Ends it when it goes.
class DevnetProcess {
public:
    /// `flags` of `assay devnet up`. Returns once it says that everybody has staked.
    explicit DevnetProcess(std::vector<std::string> flags) {
        flags.insert(flags.begin(),
                     {"devnet", "up", "--home", home(), "--node", "127.0.0.1:0", "-o", "json"});
        up_ = std::make_unique<test::BackgroundProgram>(built_program("assay"), std::move(flags));
        wait_until("devnet up", kLongest, [&] {
            REQUIRE(up_->running());
            return up_->out().find('}') != std::string::npos;
        });
        said_ = nlohmann::json::parse(up_->out());
    }
    ~DevnetProcess() {
        if (up_) stop();
    }
    DevnetProcess(const DevnetProcess&) = delete;
    DevnetProcess& operator=(const DevnetProcess&) = delete;

    [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
    [[nodiscard]] std::string home() const { return (folder_ / "net").string(); }
    [[nodiscard]] std::string home_of(const std::string& name) const {
        return (folder_ / "net" / name).string();
    }

    /// One command to its end. All roles of a network on one machine are one caller to its node, which may
    /// have no room for one more: then it is run again.
    [[nodiscard]] test::ProgramRun run(const std::string& who, std::vector<std::string> words) const {
        for (const std::string& word : common(who)) words.push_back(word);
        words.insert(words.end(), {"-o", "json"});
        const auto give_up = std::chrono::steady_clock::now() + kLongest * kPatience;
        while (true) {
            const test::ProgramRun done = test::run_program(built_program("assay"), words);
            const bool no_room = done.code != 0 && reason_in(done.err).at("kind") == "unreachable";
            if (!no_room || !up_ || std::chrono::steady_clock::now() > give_up) return done;
            INFO(up_->err());
            REQUIRE(up_->running());
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
    }
    /// What the command answers; it must succeed.
    [[nodiscard]] nlohmann::json ask(const std::string& who, const std::vector<std::string>& words) const {
        const test::ProgramRun done = run(who, words);
        INFO("assay " << words[0] << " " << words[1] << ": " << done.err);
        REQUIRE(done.code == 0);
        return nlohmann::json::parse(done.out);
    }
    /// The same of a command that the owner's key signs.
    [[nodiscard]] nlohmann::json sign(const std::string& who, std::vector<std::string> words) const {
        return ask(who, with_passphrase(std::move(words)));
    }
    /// The error of a command that must fail: its last line on standard error.
    [[nodiscard]] nlohmann::json refusal(const std::string& who, std::vector<std::string> words) const {
        const test::ProgramRun done = run(who, std::move(words));
        INFO(done.out);
        REQUIRE(done.code != 0);
        return reason_in(done.err);
    }
    /// A command that goes on, as `job submit` does.
    [[nodiscard]] std::unique_ptr<test::BackgroundProgram> start(const std::string& who,
                                                                 std::vector<std::string> words) const {
        words = with_passphrase(std::move(words));
        for (const std::string& word : common(who)) words.push_back(word);
        return std::make_unique<test::BackgroundProgram>(built_program("assay"), std::move(words));
    }
    [[nodiscard]] std::vector<std::string> with_passphrase(std::vector<std::string> words) const {
        words.insert(words.end(), {"--passphrase-file", said_.at("passphrase_file").get<std::string>()});
        return words;
    }

    /// Asks `happened` until it says yes; a failed test, with the end of every log, when the network ends or
    /// it takes too long.
    void wait_for(const std::string& what, const std::function<bool()>& happened) const {
        const auto begun = std::chrono::steady_clock::now();
        const auto give_up = std::chrono::steady_clock::now() + kLongest * kPatience;
        while (!happened()) {
            INFO("waited for: " << what << "; " << up_->err());
            const bool goes_on = up_->running() && std::chrono::steady_clock::now() < give_up;
            if (!goes_on) print_logs();
            REQUIRE(goes_on);
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
        const auto waited = std::chrono::steady_clock::now() - begun;
        std::cout << "waited " << std::chrono::duration_cast<std::chrono::milliseconds>(waited).count()
                  << " ms for " << what << std::endl;
    }

    /// Ends the network and waits for it.
    void stop() {
        up_->signal(SIGTERM);
        up_->wait();
        up_.reset();
    }

private:
    [[nodiscard]] std::vector<std::string> common(const std::string& who) const {
        return {"--home", home_of(who), "--node", said_.at("node").get<std::string>()};
    }
    static nlohmann::json reason_in(const std::string& err) {
        // Logs may stand before it.
        const std::size_t schema = err.rfind("assay.error/v1");
        INFO(err);
        REQUIRE(schema != std::string::npos);
        const std::size_t from = err.rfind('{', schema);
        REQUIRE(from != std::string::npos);
        return nlohmann::json::parse(err.substr(from)).at("error");
    }
    void print_logs() const {
        for (const auto& entry : std::filesystem::directory_iterator(home())) {
            const std::string name = entry.path().filename().string();
            if (!std::filesystem::exists(entry.path() / "logs")) continue;
            std::cout << name << ":\n" << node::log_tail(node::Home{entry.path()}, name, 25);
        }
        std::cout.flush();
    }

    test::TemporaryFolder folder_;
    std::unique_ptr<test::BackgroundProgram> up_;
    nlohmann::json said_;
};

}  // namespace assay::tests
