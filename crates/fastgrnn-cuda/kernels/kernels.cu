// The first module that scripts/build-kernels compiles.
#include "all.cuh"
