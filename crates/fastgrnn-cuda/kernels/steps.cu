// The second module that scripts/build-kernels compiles.
#include "steps.cuh"
