// What scripts/build-kernels compiles.
#include "all.cuh"
