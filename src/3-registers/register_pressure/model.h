// The two-phase lattice-Boltzmann model whose step register_pressure compiles in many forms, as in
// the kernel of AMD's lab note, and the grid that it runs on.
//
// Per cell, of given fields phi, its Laplacian and its gradient, of 7 populations f (phase) and of
// 19 populations g (flow) that move along directions c:
//   rho = sum of g          mu = alpha phi (phi^2 - phi0^2) - kappa laplacian      F = mu gradient
//   u = (sum of c g + F / 2) / rho
//   f0' = (1 - 1/tau) f0 - 3 gamma mu / tau + phi / tau
//   f'  = (1 - 1/tau) f + gamma mu / (2 tau) + eta phi c.u / tau
//   g0' = r g0 + w0 (rho - 6 phi mu - 1.5 rho u.u) - q0 u.F
//   g'  = r g + w (3 phi mu + rho) + w rho (p^2 / 2 - 1.5 u.u) + q (p b - u.F) + w rho p + q b
// with p = c.u and b = c.F. f and g0 stay where they are, g1 to g18 go to the neighbour in
// direction c. phi stays as it is: with the sum of f equal to phi at first, it is so after any
// number of steps. (With 4.5 p^2, 3 p b and 3 w rho p the sum of g would stay too. The lab note
// has the factors above, and so have all stages.)
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::register_pressure {

constexpr int phase_populations = 7;
constexpr int flow_populations = 19;
constexpr int given_fields = 5;

/// What a step must move per cell: 5 fields are read, 7 + 19 populations read and written.
constexpr unsigned moved_bytes =
    (given_fields + 2 * (phase_populations + flow_populations)) * sizeof(double);

/// The directions of g, each even one opposite to the one before it; f has the first seven.
constexpr int directions[flow_populations][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

/// The scalars of the model as a kernel takes them: what is the same in every cell is worked out by
/// the host.
struct Model {
  double kappa;
  double alpha;
  double phi0_squared;
  double gamma;
  double phase_rate;  ///< 1 / tau
  double phase_kept;  ///< 1 - 1 / tau
  double eta;
  double flow_kept;  ///< r
  double rest_weight, axis_weight, edge_weight;
  double rest_forcing, axis_forcing, edge_forcing;
};

/// The model's numbers: no material's, and none of them 0 or 1.
constexpr Model make_model() {
  constexpr double tau = 0.8;
  constexpr double flow_kept = 0.3;
  constexpr double edge_forcing = (1 + flow_kept) / 24;
  return {.kappa = 0.02,
          .alpha = 0.05,
          .phi0_squared = 0.9,
          .gamma = 0.7,
          .phase_rate = 1 / tau,
          .phase_kept = 1 - 1 / tau,
          .eta = 0.6,
          .flow_kept = flow_kept,
          .rest_weight = (1 - flow_kept) / 3,
          .axis_weight = (1 - flow_kept) / 18,
          .edge_weight = (1 - flow_kept) / 36,
          .rest_forcing = 12 * edge_forcing,
          .axis_forcing = 2 * edge_forcing,
          .edge_forcing = edge_forcing};
}

/// The same for a kernel. No lambda may name the table: clang takes it for one that the host may
/// change then, and would load in unrolled loops what it knows.
static __constant__ const int direction_table[flow_populations][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};
__device__ inline const int* direction_of(int i) { return direction_table[i]; }

/// The grid as a kernel takes it. Indices count elements from cell (0, 0, 0), and may be negative:
/// around the cells is a halo, into which g is pushed.
struct Grid {
  int nx, ny, nz;
  int row;      ///< from a cell to its neighbour in y
  int layer;    ///< in z
  int current;  ///< the half of g1 to g18 that is read
  int next;     ///< and the one that is written
};

}  // namespace hipscope::register_pressure
