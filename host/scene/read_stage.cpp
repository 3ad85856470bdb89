#include <fmt/format.h>

#include "host/scene/entries.hpp"

namespace carom {

std::array<std::array<double, 2>, 3> read_face_temperature(const Section& section, const Box& box) {
    const auto temperature = section.pairs("wall_temperature");
    for (int axis = 0; axis < box.dimension; ++axis) {
        for (int side = 0; side < 2; ++side) {
            if (temperature[axis][side] == 0.0 || box.faces[axis][side] == Face::kWall) continue;
            section.fail_at("wall_temperature", axis,
                            fmt::format("must be 0 for a face that is {}: only walls have a temperature",
                                        box.faces[axis][side] == Face::kOpen ? "open" : "periodic"));
        }
    }
    return temperature;
}

void check_gravity(const Section& section, const Vector3& gravity, const Box& box) {
    for (int axis = 0; axis < box.dimension; ++axis) {
        if (gravity[axis] != 0.0 && box.periodic(axis)) {
            section.fail_at("gravity", axis, "must be 0 along a periodic axis: a ball would fall for ever");
        }
    }
}

Thermostat read_thermostat(const Section& section, double until) {
    constexpr double kMostVisits = 1.0e12;  // in a run; more often, time does not go on
    Thermostat thermostat;
    thermostat.kind = static_cast<Thermostat::Kind>(section.choice("kind"));
    const bool andersen = thermostat.kind == Thermostat::Kind::kAndersen;
    const bool rescale = thermostat.kind == Thermostat::Kind::kRescale;
    if (!andersen && section.has("rate")) section.fail("rate", "is for kind = \"andersen\"");
    if (!rescale && section.has("every")) section.fail("every", "is for kind = \"rescale\"");
    if (!andersen && !rescale) {
        if (section.has("temperature")) section.fail("temperature", "needs kind = \"andersen\" or \"rescale\"");
        return thermostat;
    }
    const char* pace = andersen ? "rate" : "every";
    for (const char* name : {"temperature", pace}) {
        if (!section.has(name)) section.fail(name, "is required for this kind of thermostat");
    }
    thermostat.temperature = section.number("temperature");
    (andersen ? thermostat.rate : thermostat.every) = section.number(pace);
    if (andersen && thermostat.rate * until > kMostVisits) {
        section.fail("rate", fmt::format("must be at most {:g} for a run of that length, not {:g}", kMostVisits / until,
                                         thermostat.rate));
    }
    if (rescale && thermostat.every < until / kMostVisits) {
        section.fail("every", fmt::format("must be at least {:g} for a run of that length, not {:g}",
                                          until / kMostVisits, thermostat.every));
    }
    return thermostat;
}

Stage read_stage(const Section& section, const Scene& scene, bool last) {
    Stage stage;
    stage.name = section.text("name");
    stage.until = section.number("until");
    const double before = scene.stages.empty() ? 0.0 : scene.stages.back().until;
    if (!(stage.until > before)) {
        section.fail("until",
                     fmt::format("must be later than the end of the stage before, {}, not {}", before, stage.until));
    }
    stage.gravity = section.vector("gravity", scene.physics.gravity);
    check_gravity(section, stage.gravity, scene.box);
    stage.wall_temperature =
        section.has("wall_temperature") ? read_face_temperature(section, scene.box) : scene.box.temperature;
    for (const Wall& wall : scene.walls) {
        stage.wall_velocity.push_back(wall.velocity);
        stage.wall_entry_temperature.push_back(wall.temperature);
    }
    stage.wall_velocity = section.numbers("wall_velocity", stage.wall_velocity);
    for (std::size_t at = 0; at < scene.walls.size(); ++at) {
        if (stage.wall_velocity[at] != 0.0 && scene.walls[at].shape != Wall::Shape::kPlane) {
            section.fail_at("wall_velocity", static_cast<int>(at), "must be 0 for a sphere: only planes move");
        }
    }
    stage.wall_entry_temperature = section.numbers("wall_entry_temperature", stage.wall_entry_temperature);
    stage.thermostat =
        section.has("thermostat") ? read_thermostat(section.table("thermostat"), scene.run.until) : scene.thermostat;
    stage.measure = section.has("measure") ? section.flag("measure") : last;
    return stage;
}

}  // namespace carom
