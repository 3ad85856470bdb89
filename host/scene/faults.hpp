#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/scene/sources.hpp"
#include "host/state/errors.hpp"

namespace carom {

/// One thing that is wrong with a scene, and where.
class PlacedError : public InputError {
public:
    PlacedError(SourcePlace place, const std::string& message) : InputError(message), place_(std::move(place)) {}
    [[nodiscard]] const SourcePlace& place() const { return place_; }

private:
    SourcePlace place_;
};

/// All that is wrong with a scene. what() is the first of the lines.
class SceneErrors : public InputError {
public:
    explicit SceneErrors(std::vector<std::string> lines) : InputError(lines.at(0)), lines_(std::move(lines)) {}
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    std::vector<std::string> lines_;
};

/// What is found to be wrong with a scene while it is read. A value that is wrong by itself is noted, and read as one
/// that would be right, so that what follows is looked at too. What is thrown because values do not go together is
/// noted only where all of them are right: it may follow from the others.
class Faults {
public:
    /// What throws it has noted why the rest of its table cannot be read.
    struct Abandoned {};

    void note(SourcePlace place, std::string message);
    /// Calls read(), and notes what it throws.
    template <class Read>
    void gather(const Read& read) {
        const std::size_t before = count_;
        try {
            read();
        } catch (const Abandoned&) {
            // noted
        } catch (const PlacedError& error) {
            if (count_ == before && !hidden_) note(error.place(), error.what());
        }
    }
    /// From here on values are held against tables that have been read: if something is wrong with these, nobody knows.
    void hold_against_read() { hidden_ = count_ > 0; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] bool none() const { return count_ == 0; }
    /// Throws what has been noted, in the order of the file; nothing if that is nothing.
    /// \throws InputError   of one
    /// \throws SceneErrors  of several
    void tell() const;

private:
    struct Fault {
        SourcePlace place;
        std::string message;
    };
    std::vector<Fault> faults_;  // the first ones
    std::size_t count_ = 0;
    bool hidden_ = false;
};

}  // namespace carom
