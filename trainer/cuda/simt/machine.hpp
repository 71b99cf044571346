// SPDX-License-Identifier: Apache-2.0
// ASSAY_MACHINE names the machine that trainer/cuda is compiled for. Code that is compiled twice, for GPUs
// and for the emulation, lies in an inline namespace of that name, so that one program can have both.
#pragma once

#if defined(__CUDACC__)
#define ASSAY_MACHINE gpu
#else
#define ASSAY_MACHINE emulated
#endif
