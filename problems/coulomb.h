// problems/coulomb.h -- Coulomb's law at a contact, and how far an answer is from it.
//
// The one-step problem asks for impulses r whose velocities u = W r + b satisfy, at each contact
// with friction coefficient mu, the law in De Saxce's form
//
//     K_{1/mu}  contains  u~ = u + mu |u_T| e,   u~ . r = 0,   r  in  K_mu                   (1)
//     K_mu = {x : x_N >= 0, |x_T| <= mu x_N},    e = (1, 0, 0)
//
// In the variables r^ = s (mu r_N, r_T), u^ = (u~_N, mu u_T) both cones are K_1, and (1) holds
// exactly where the Fischer-Burmeister function of K_1 vanishes:
//
//     f(x, y) = x + y - (x o x + y o y)^(1/2),    x o y = (<x,y>, x_N y_T + y_N x_T)           (2)
//
// Frame: component 0 is the normal, 1 and 2 span the tangent plane. A contact in two dimensions is
// one whose component 2 is zero: every function of one contact takes three components.
// Units: r in N s, u and b in m/s, W and s in 1/kg; mu has none.
// The measures here judge every solver; none decides by its own. A NaN that goes in comes out of
// fb, whichever number it was; the other measures may not look at that number. Reference:
// [D11] sections 3 and A.1, doc/formulation.md, "Measures".
#pragma once

#include "base/field.h"

#pragma GCC visibility push(default)

// One contact as a problem of its own: u = W r + b, W row-major; in the plane row and column 2 and
// b[2] are zero.
typedef struct ss_local {
    int dim;
    double W[9];
    double b[3];
    double mu;
} ss_local;

// f of (2). Zero exactly when x and y are in K_1 and orthogonal. Homogeneous of degree one.
void ss_fischer_burmeister(const double x[3], const double y[3], double f[3]);

// f(r^, u^) of one contact, in m/s. For mu = 0 it is (FB(s r_N, u_N), s |r_T|, 0) with the scalar
// function FB and the 2-norm, so that |f|_inf does not depend on the tangent frame.
void ss_coulomb_residual(double mu, double s, const double r[3], const double u[3], double f[3]);

// What rounding leaves unknown of f, in m/s: eps s max(1, mu) |r|, and eps mu |u_T| for mu > 1.
// Where s r outweighs u by all digits, x + y - q is 0 whatever u is, and an impulse of 1e20 would
// excuse any velocity; where mu |u_T| outweighs u_N, friction of 1e20 would.
double ss_coulomb_rounding(double mu, double s, const double r[3], const double u[3]);

// Nearest point of K_mu, which may take the place of x. For solvers as well as for the judge.
void ss_cone_project(double mu, const double x[3], double projection[3]);

// What a problem measures its answers by, whatever they are.
typedef struct ss_scales {
    double velocity;   // V = max_i |b_i|_2, 1 if that is 0; m/s
    double compliance; // s = mean_i s_i with s_i = tr(W_ii)/d, 1 if that is not positive; 1/kg
} ss_scales;

// d = 2 or 3; compliance[i] = s_i; b is [d n]. Both are 1 for n = 0.
ss_scales ss_scales_find(int d, int n, const double *compliance, const double *b);

// All measures of one answer. In ss_measure a residual is never less than ss_coulomb_rounding:
// beyond that nothing is known of a velocity in doubles. ss_response_judge has more digits where
// they are needed. Maxima run over the contacts.
typedef struct ss_measures {
    double fb;         // max |f|_inf with the one s, over V
    double fb_contact; // the same with each contact's own s_i
    double fb_abs;     // s = 1, not divided: [D11]'s own measure, m/s
    double natural; // |r - P_K(r - u~)|_2 / max(|b|_2, |r|_2, |u|_2); mixes units, never a verdict
    double normal;  // max |FB(s r_N, u_N)| / V, scalar FB: what fb misses as mu -> 0
    double penetration;    // max -u_N, m/s; never below 0
    double cone_excess;    // max of |r_T| - mu r_N and -r_N, over max |r|; never below 0
    double slip_angle;     // max angle between -u_T and r_T where both exceed the residual, radians
    double power;          // max |u~ . r|, J
    double velocity_scale; // V, m/s
    double compliance_scale; // s, 1/kg
    int worst_contact;       // where fb is attained, from 0
} ss_measures;

// Its fields, in the order of columns and attributes; groups say who shows them.
enum {
    SS_MEASURES_OF_ROWS = 1, // rows of results
    SS_MEASURES_IN_FULL = 2, // verify and traces
    SS_MEASURES_STORED = 4,  // attributes of /solution: all
};
extern const ss_field ss_measure_fields[];

// The facts of one answer r with its velocity u = W r + b, which the caller computes afresh.
// d = 2 or 3; compliance[i] = tr(W_ii)/d; b, r, u are [d n], mu is [n]. Returns ss_measures_none if
// there is no contact or an array is NULL.
ss_measures ss_measure(int d, int n, const double *compliance, const double *b, const double *mu,
                       const double *r, const double *u);

// Every field NaN, worst_contact -1: what an answer has before it is judged.
ss_measures ss_measures_none(void);

// Returns what a tolerance bounds: max(fb, normal/2). fb alone goes blind as mu -> 0: its r^ has
// mu r_N in it, so that contacts may push while they separate. An answer whose error is T has, at
// any mu >= 0,
//
//     u_N >= -2 T V,  s r_N >= -2 T V,  s r_N u_N <= 2 T V (s r_N + u_N) where both are > 0    (3)
//
// Half, because of a normal velocity that is wrong by d fb sees d/2 where a contact slides: so both
// are alike at the frictions of hair (doc/formulation.md, "The verdict"). Returns NaN where one is
// NaN, and for NULL.
#define SS_NORMAL_WEIGHT 0.5
double ss_measures_error(const ss_measures *m);

// The verdict: ss_measures_error(m) <= tolerance. False for NaN. Whoever compares an answer with a
// tolerance does it by these two.
bool ss_measures_pass(const ss_measures *m, double tolerance);

#pragma GCC visibility pop

// ---- Internal

// The last digits of W, r and mu decide of impulses that outweigh the velocities by so many bits,
// even where their product as stored hits the law: no more is known of them than in doubles.
#define SS_IMPULSE_MOST 0x1p40
// Returns max(2^40, tolerance/eps): no answer with a component of r above this many V/s passes.
double ss_impulse_most(double tolerance);

// Velocities with more digits than u has: u + low is right to `uncertain`, m/s.
typedef struct ss_fine {
    const double *low; // [d n]
    double uncertain;
} ss_fine;

// Does what ss_measure does with the help of a team, or NULL, which changes no bit; squares is
// scratch [n]. If `fine` is not NULL, residuals are computed from u + low with the digits of two
// doubles, and a bound of their error is added.
struct ss_team;
ss_measures ss_measure_with(struct ss_team *team, double *squares, int d, int n,
                            const double *compliance, const double *b, const double *mu,
                            const double *r, const double *u, const ss_fine *fine);
// Returns what rounding may have done to fb and normal of m, which were measured without `fine` and
// with u right to `uncertain`, m/s: ss_coulomb_rounding and that, over V.
double ss_measures_rounding(const ss_measures *m, int d, int n, const double *mu, const double *r,
                            const double *u, double uncertain);
// fb_abs and natural, which mix velocities and impulses, in units of which an m/s and an N s are so
// many; the other fields NaN. Internal.
ss_measures ss_measure_in_units(double impulse, double velocity, int d, int n, const double *b,
                                const double *mu, const double *r, const double *u);
