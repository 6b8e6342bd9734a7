// wgmma of every format; what they have in common is in wgmma/shape.h.
#pragma once

#include "wgmma/bytes.h"
#include "wgmma/floats.h"
#include "wgmma/halves.h"
#include "wgmma/sparse.h"
