#pragma once

#include <memory>

#include "host/observables/averager.hpp"

namespace carom {

// One function a kind of [[observe]] that is averaged; each stands in the file of that name.

/// Density of the speeds: the share of balls per speed, integral 1 [s/m].
std::unique_ptr<Averager> make_speed_histogram(const ObserveRequest& request, const AverageContext& context);
/// Density of each component of the velocities, integral 1 [s/m].
std::unique_ptr<Averager> make_velocity_histogram(const ObserveRequest& request, const AverageContext& context);
/// Centres of balls per volume (area in 2D) in slices across an axis.
std::unique_ptr<Averager> make_density_profile(const ObserveRequest& request, const AverageContext& context);
/// Temperature, without the flow, in slices across an axis [J].
std::unique_ptr<Averager> make_temperature_profile(const ObserveRequest& request, const AverageContext& context);
/// Flow velocity, momentum over mass, in slices across an axis [m/s].
std::unique_ptr<Averager> make_velocity_profile(const ObserveRequest& request, const AverageContext& context);
/// Centres of balls per volume (area in 2D), over a plane; in 3D the mean along the third axis.
std::unique_ptr<Averager> make_density_map(const ObserveRequest& request, const AverageContext& context);
/// Temperature, without the flow, over a plane [J].
std::unique_ptr<Averager> make_temperature_map(const ObserveRequest& request, const AverageContext& context);
/// Flow velocity over a plane [m/s].
std::unique_ptr<Averager> make_velocity_map(const ObserveRequest& request, const AverageContext& context);
/// The radial distribution function g(r).
std::unique_ptr<Averager> make_pair_distribution(const ObserveRequest& request, const AverageContext& context);
/// Mean square displacement over time, over many starts [m^2].
std::unique_ptr<Averager> make_mean_square_displacement(const ObserveRequest& request, const AverageContext& context);
/// Self-diffusion coefficient, from how the mean square displacement grows [m^2/s].
std::unique_ptr<Averager> make_self_diffusion(const ObserveRequest& request, const AverageContext& context);
/// Velocity autocorrelation v(0) . v(t) / d over time, over many starts [m^2/s^2].
std::unique_ptr<Averager> make_velocity_autocorrelation(const ObserveRequest& request, const AverageContext& context);
/// Temperature, without the flow, of the balls in a region [J].
std::unique_ptr<Averager> make_region_temperature(const ObserveRequest& request, const AverageContext& context);
/// Kurtosis of a velocity component: 3 for Maxwell and Boltzmann, smaller for few balls.
std::unique_ptr<Averager> make_kurtosis(const ObserveRequest& request, const AverageContext& context);

/// Stress tensor: momentum that crosses planes, by motion and by contacts [pressure].
std::unique_ptr<Averager> make_stress(const ObserveRequest& request, const AverageContext& context);
/// The part of it that balls carry as they move.
std::unique_ptr<Averager> make_kinetic_stress(const ObserveRequest& request, const AverageContext& context);
/// The part of it that contacts pass on.
std::unique_ptr<Averager> make_collisional_stress(const ObserveRequest& request, const AverageContext& context);
/// The stress's trace over d: the pressure.
std::unique_ptr<Averager> make_pressure(const ObserveRequest& request, const AverageContext& context);
/// Z = p V / (N T).
std::unique_ptr<Averager> make_compressibility(const ObserveRequest& request, const AverageContext& context);
/// Density of the lengths of paths between two collisions of a ball with others, integral 1 [1/m]; events alone.
std::unique_ptr<Averager> make_free_path(const ObserveRequest& request, const AverageContext& context);
/// Their mean [m]; events alone.
std::unique_ptr<Averager> make_mean_free_path(const ObserveRequest& request, const AverageContext& context);
/// Collisions with balls per ball and time [1/s]; events alone.
std::unique_ptr<Averager> make_collision_rate(const ObserveRequest& request, const AverageContext& context);

}  // namespace carom
