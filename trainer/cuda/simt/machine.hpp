// SPDX-License-Identifier: Apache-2.0
// Gives trainer/cuda the name of the machine that it is compiled for. What is compiled twice, for GPUs and
// for the emulation, lies in an inline namespace of that name, so that one program can have both.
#pragma once

#if defined(__CUDACC__)
#define ASSAY_MACHINE gpu
#else
#define ASSAY_MACHINE emulated
#endif
