// strands/material.h -- what a strand is made of, and the rigidities that follow from it.
//
// An elliptic section with semi-axes a1 (along n1) and a2 (along n2): area S = pi a1 a2; bending
// about n1 has I1 = pi a1 a2^3 / 4, about n2 I2 = pi a1^3 a2 / 4; torsion J = pi a1^3 a2^3 /
// (a1^2 + a2^2), which is I1 + I2 for a circle. G = E / (2 (1 + nu)). Units SI.
//
// doc/strands.md, "Material".
#pragma once

typedef struct ss_material {
    double density;     // kg/m^3
    double radius;      // m, sqrt(a1 a2)
    double ellipticity; // a1 / a2
    double young;       // Pa
    double poisson;
    double relaxation; // s: internal damping is relaxation x stiffness (Kelvin-Voigt)
    double stretch;    // factor of E S; 1
} ss_material;

// Human hair: 1320 kg/m^3, 50 um, round, 3.9 GPa, 0.48, 0.01 s, 1.
ss_material ss_material_hair(void);

typedef struct ss_rigidity {
    double line_density; // kg/m, rho S
    double twist;        // GJ, N m^2
    double bend1, bend2; // E I1, E I2, N m^2
    double stretch;      // E S times the material's factor, N
    double spin_inertia; // rho (I1 + I2), kg m: rotational inertia about the centre line a metre
} ss_rigidity;

ss_rigidity ss_material_rigidity(const ss_material *m);

// Returns Gamma = rho S g L^3 / (E I1), without unit, which tells what its weight does to a strand
// of this length, in m. A strand clamped level hangs by L Gamma / 8 where that is small. gravity in
// m/s^2.
double ss_material_gamma(const ss_material *m, double length, double gravity);
// Hz, of the first bending mode of a straight clamped strand without weight.
double ss_material_frequency(const ss_material *m, double length);
