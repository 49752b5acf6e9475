// problems/strands/chain_batch.h -- many equal chains, stepped together without contacts
// (internal).
//
//     v += h g;  p = x + h v;  p by the method of chain.h;  v = (p - x) / h, x = p
//
// SS_CHAIN_LANES chains lie side by side, so that one instruction works on several, and threads
// share the groups. The bits of a chain depend on neither.
#pragma once

#include "problems/status.h"
#include "problems/strands/chain.h"

// Of what GCC 12 makes of vectors that are wider than the registers, 8 numbers in those of AVX (256
// bits) cost four times their work; with SSE2 they are the best. Their number changes no bits.
#if defined __AVX__ && !defined __AVX512F__
#define SS_CHAIN_LANES 4
#else
#define SS_CHAIN_LANES 8
#endif

typedef struct ss_chain_batch ss_chain_batch;

// `count` chains of one shape (which must outlive the batch), all at 0 and at rest. Without OpenMP
// one thread does all the work.
ss_status ss_chain_batch_new(const ss_chain_shape *shape, int count, int threads,
                             ss_chain_batch **batch, ss_error *e);
void ss_chain_batch_free(ss_chain_batch *b); // takes NULL

// x and v [n of the shape] of chain k. A held vertex keeps the velocity that it is given here.
void ss_chain_batch_put(ss_chain_batch *b, int k, const ss_vec3 *x, const ss_vec3 *v);
void ss_chain_batch_get(const ss_chain_batch *b, int k, ss_vec3 *x, ss_vec3 *v);

void ss_chain_batch_step(ss_chain_batch *b, const ss_chain_method *m, ss_vec3 gravity, double h);
