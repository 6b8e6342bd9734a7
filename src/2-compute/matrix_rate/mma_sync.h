// mma.sync of every format; what they have in common is in mma_sync/shape.h.
#pragma once

#include "mma_sync/bytes.h"
#include "mma_sync/floats.h"
#include "mma_sync/halves.h"
#include "mma_sync/sparse.h"
