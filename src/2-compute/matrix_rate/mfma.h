// MFMA of every format; what they have in common is in mfma/shape.h.
#pragma once

#include "mfma/bytes.h"
#include "mfma/floats.h"
#include "mfma/halves.h"
#include "mfma/scaled.h"
