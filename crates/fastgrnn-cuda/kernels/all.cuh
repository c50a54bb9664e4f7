// All kernels but those of steps.cuh: the one list of the files that define them.
#include "assemble.cuh"
#include "head.cuh"
#include "layer.cuh"
#include "optimize.cuh"
#include "rows.cuh"
#include "self_test.cuh"
#include "sums.cuh"
#include "tiles.cuh"
