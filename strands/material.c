// The rigidities of an elliptic section (material.h).
#include "strands/material.h"

#include <math.h>

#define PI 3.14159265358979323846

ss_material ss_material_hair(void)
{
    return (ss_material){.density = 1320.0,
                         .radius = 50e-6,
                         .ellipticity = 1.0,
                         .young = 3.9e9,
                         .poisson = 0.48,
                         .relaxation = 0.01,
                         .stretch = 1.0};
}

ss_rigidity ss_material_rigidity(const ss_material *m)
{
    const double a1 = m->radius * sqrt(m->ellipticity);
    const double a2 = m->radius / sqrt(m->ellipticity);
    const double area = PI * a1 * a2;
    const double I1 = 0.25 * area * a2 * a2;
    const double I2 = 0.25 * area * a1 * a1;
    const double J = area * a1 * a1 * a2 * a2 / (a1 * a1 + a2 * a2);
    const double shear = 0.5 * m->young / (1.0 + m->poisson);
    return (ss_rigidity){.line_density = m->density * area,
                         .twist = shear * J,
                         .bend1 = m->young * I1,
                         .bend2 = m->young * I2,
                         .stretch = m->stretch * m->young * area,
                         .spin_inertia = m->density * (I1 + I2)};
}

double ss_material_gamma(const ss_material *m, double length, double gravity)
{
    const ss_rigidity r = ss_material_rigidity(m);
    return r.line_density * gravity * length * length * length / r.bend1;
}

// The least root of cos x cosh x = -1.
#define FIRST_ROOT 1.8751040687119611

double ss_material_frequency(const ss_material *m, double length)
{
    const ss_rigidity r = ss_material_rigidity(m);
    const double rate = FIRST_ROOT * FIRST_ROOT / (length * length); // 1/m^2
    return rate * sqrt(r.bend1 / r.line_density) / (2.0 * PI);
}
