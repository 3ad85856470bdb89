#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/plot/image.hpp"
#include "host/scene/formula.hpp"
#include "host/scene/scene.hpp"
#include "host/state/balls.hpp"
#include "host/viewer/ball_turns.hpp"
#include "host/viewer/color_map.hpp"
#include "kernels/core/picture.hpp"

namespace carom {

/// The deepest overlap of each ball with another, as a fraction of the smaller radius; 0 without a contact. Around
/// periodic faces too. Takes a time that grows as the number of balls, if their sizes are alike.
void deepest_overlaps(const Scene& scene, const Balls& balls, const Frame& frame, std::vector<float>& overlaps);

/// Calls `meet` with the ids of two balls that overlap, and how far [length]: each pair once.
void visit_contacts(const Scene& scene, const Balls& balls, const Frame& frame,
                    const std::function<void(std::size_t, std::size_t, double)>& meet);

/// The balls that touch or overlap ball `id`, by id. Looks at all of them.
std::vector<std::size_t> partners_of(const Scene& scene, const Balls& balls, const Frame& frame, std::size_t id);

/// What a ball's colour stands for.
enum class Quantity : std::uint8_t {
    kSpecies,
    kSpeed,
    kKineticEnergy,
    kSpin,
    kOverlap,
    kId,
    kHeight,
    kDensity,
    kTemperature,
    kFlow,
    kFormula  ///< what a BallFormula gives, which whoever draws has
};

/// Its name on the command line, and what a legend calls it.
struct QuantityInfo {
    Quantity quantity;
    const char* name;
    const char* label;
    const char* unit;  ///< SI; empty: a pure number
};

/// All of them but the formula, in the order of the enumeration.
std::span<const QuantityInfo> quantities();
const QuantityInfo& info_of(Quantity quantity);

/// A formula of the numbers of one ball: id, species, x, y, z, vx, vy, vz, speed, spin (in 2D with its sign), radius,
/// mass. A species' name stands for its number, if formulas can have such a name. With a colon it has a name: "from the
/// middle: x - 5".
class BallFormula {
public:
    /// \param label  as messages name it
    /// \throws InputError  what is wrong with it
    BallFormula(std::string text, const Balls& balls, const std::string& label);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// For legends: its name, or else all of it.
    [[nodiscard]] std::string name() const { return text_.substr(0, text_.find(':')); }
    /// By id; NaN of a ball that has left. \param balls  for species
    void evaluate(const Balls& balls, const Frame& frame, std::vector<float>& values) const;
    /// 1 where it is another number than 0, however small, else 0; NaN of a ball that has left.
    void choose(const Balls& balls, const Frame& frame, std::vector<float>& chosen) const;

    /// \throws InputError  it wants velocities or spins, and the frame holds none
    void require_numbers(const Frame& frame) const;

private:
    template <class Store>
    void fill_with(const Balls& balls, const Frame& frame, std::vector<float>& values, const Store& store) const;

    std::string text_;
    std::string label_;
    std::vector<double> numbers_;  // of the species that have names, behind those of a ball
    Formula formula_;
};

/// Species where there are balls of several, else speed: one species in one colour would say nothing.
Quantity default_quantity(const Balls& balls);

/// The quantity of each ball, by id; NaN where it has none (a ball that has left, the energy of an infinite mass, what
/// a file does not hold). Overlap is the deepest of a ball's contacts with other balls, as a fraction of the smaller
/// radius; height is against gravity from the box's lower face, along the last axis without gravity. Density (the share
/// of the room that balls fill), temperature and the speed of the flow are those of the balls around: of a cell of
/// about ten, and the cells that touch it. \param balls  for species; its positions are not looked at
void evaluate(Quantity quantity, const Scene& scene, const Balls& balls, const Frame& frame,
              std::vector<float>& values);

/// The kinetic energy of a ball, with that of its spin; NaN of infinite mass.
double energy_of(const Balls& balls, const Frame& frame, std::size_t id);

/// The same for a processor that evaluates it where the balls are. PictureOrder::Value::kGiven: what evaluate() gives,
/// which stays as it is.
PictureOrder picture_order(Quantity quantity, const Scene& scene, const Balls& balls);

/// Values that a range is found from, at most.
constexpr std::size_t kRangeSample = 65536;

/// The two ends of a colour map; where they are equal, all balls have the colour of its middle. NaN: no ball has a
/// number.
struct ValueRange {
    float low = 0.0f;
    float high = 1.0f;
};

/// From 0, or the least value of heights and ids, to what a few balls in a thousand exceed: these shall not make all
/// others look alike. Of very many values some thousands are looked at, at equal distances. Both are the one value that
/// there is, 0 if there is none.
ValueRange range_of(Quantity quantity, std::span<const float> values);

/// A row of colours: those of species by their index, else a perceptually uniform map. What is drawn and what the
/// legend shows are both made from it.
struct Palette {
    std::vector<Color> colors;
    bool categories = false;
    std::vector<std::pair<std::string, Color>> entries;  ///< of a legend: names of the species that have balls

    /// The colour at t, 0 to 1, of a map.
    [[nodiscard]] Color at(float t) const;
};

/// \param by_id  colours that ids have by the scene's look; none: ids have the map's, too
Palette palette_of(Quantity quantity, const Balls& balls, ColorMap map, std::span<const std::string> by_id = {});

/// All that the renderer knows of balls: whoever has places and values can have them drawn.
struct BallCloud {
    std::span<const BallPlace> places;
    std::span<const float> values;  ///< one per place: what the colour stands for
    Vector3 origin{};
    float largest_radius = 0.0f;
    std::span<const BallTurn> turns = {};  ///< one per place, or none: no pattern shows them
};

/// The middle of the box, from which places of clouds are measured: single precision is finest there.
Vector3 cloud_origin(const Box& box);

/// Adds the second pictures of a ball that hangs over periodic faces of a box in 2D: at the opposite ones.
void add_second_pictures(const Box& box, const BallPlace& place, float value, std::vector<BallPlace>& places,
                         std::vector<float>& values);

/// Makes clouds from frames; reused without allocation.
class CloudMaker {
public:
    /// Balls that have left are skipped. In 2D a ball that hangs over a periodic face is there a second time, at the
    /// opposite face.
    /// \param values  one per ball, by id
    /// \param turns   the same, or none
    /// \param chosen  the same, 0: skipped; none: all are drawn
    /// \param twice   whether there are second pictures; with copies of the box there are whole ones instead
    /// \returns  a cloud that is valid until the next call
    BallCloud make(const Scene& scene, const Balls& balls, const Frame& frame, std::span<const float> values,
                   std::span<const BallTurn> turns = {}, std::span<const float> chosen = {}, bool twice = true);

private:
    std::vector<BallPlace> places_;
    std::vector<float> values_;
    std::vector<BallTurn> turns_;
};

}  // namespace carom
