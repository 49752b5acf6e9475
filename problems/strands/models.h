// problems/strands/models.h -- the strand models there are (internal): a line for each.
#pragma once

#include "problems/strands/model.h"

extern const ss_strand_model ss_super_helix;
extern const ss_strand_model ss_chain_tmf, ss_chain_pbd, ss_chain_dftl; // chain.h
