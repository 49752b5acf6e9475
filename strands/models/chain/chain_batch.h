// strands/models/chain/chain_batch.h -- the batch of the models tmf, pbd and dftl (internal).
#pragma once

#include "strands/step/batch.h"

// Of what GCC 12 makes of vectors that are wider than the registers, 8 numbers in those of AVX (256
// bits) cost four times their work; with SSE2 they are the best. Their number changes no bits.
#if defined __AVX__ && !defined __AVX512F__
#define SS_CHAIN_LANES 4
#else
#define SS_CHAIN_LANES 8
#endif

extern const ss_batch_model ss_chain_batch;
