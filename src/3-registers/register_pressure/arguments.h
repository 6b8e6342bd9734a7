// The arguments of a step as one object.
#pragma once

namespace hipscope::register_pressure {

/// As the kernels with 53 arguments take them: see shape.h.
struct Arguments {
  double *phi, *laplacian, *gradient_x, *gradient_y, *gradient_z, *f0, *f1, *f2, *f3, *f4, *f5, *f6,
      *g0, *g1, *g2, *g3, *g4, *g5, *g6, *g7, *g8, *g9, *g10, *g11, *g12, *g13, *g14, *g15, *g16,
      *g17, *g18;
  int nx, ny, nz, row, rows, current, next;
  double kappa, alpha, phi0_squared, gamma, phase_rate, phase_kept, eta, flow_kept, axis_weight,
      edge_weight, rest_weight, rest_forcing, axis_forcing, edge_forcing;
};

}  // namespace hipscope::register_pressure
