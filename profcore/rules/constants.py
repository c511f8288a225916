"""Every threshold of the rules, with its origin.

"H200" are measurements on 37 traces of an NVIDIA H200; tool names are the values those tools
ship; "own choice" is to be revised when more known-good runs exist.
"""

from typing import Final

from profcore.units import NS_PER_MS, NS_PER_US

BUSY_HIGH_FRACTION: Final = 0.80
"""At or above: the GPU is the limit. gpu-idle 80 %; unprofiled H200 runs lie at 0.94 or more."""
BUSY_LOW_FRACTION: Final = 0.50
"""Below: the GPU waits for the CPU. tb_plugin and Perfessor 50 %; unprofiled H200 runs lie at 0.09
or less."""
INFLATION: Final = 4.5
"""How much the profiler may stretch a launch-bound step. H200: 1.5 to 4.4 in 24 runs of this
program (4.4: a linear layer of 64), 1.55 to 3.2 in 17 runs before."""
RAW_RATIO_DIFFERENCE_FRACTION: Final = 0.10
"""Smaller differences between the two forms of the guide's ratio are not worth a word."""
COLD_RATIO: Final = 3.0
"""First step over the median of the others. gpuprof 3; H200: warm at most 3.01
(and then by less than COLD_MIN_NS), cold 42, 917 and 3,126."""
COLD_MIN_NS: Final = 1 * NS_PER_MS
"""A first step that is slower by less is not worth a word. Own choice with COLD_RATIO."""
FIRST_OPERATOR_GAP_MIN_NS: Final = 100 * NS_PER_US
"""Annotation to first operator in the first step. Article 227.8 µs cold; H200 warm up to 64 µs."""
FIRST_OPERATOR_GAP_RATIO: Final = 5.0
"""The same gap over the median of the later steps. Article: 227.8 against 5.5 and 4.5 µs."""
GAP_MIN_NS: Final = 5 * NS_PER_US
"""Shorter gaps between GPU activities are no idle time. H200: back to back 1.2 to 1.6 µs apart,
95th percentile at most 2.8."""
OVERHEAD_GAP_MIN_NS: Final = 100 * NS_PER_US
"""A gap on the GPU lane that the profiler's own buffers may explain. Own choice."""
LANE_OFFSET_LONG_NS: Final = 1 * NS_PER_MS
"""First GPU work after the first step's start. H200: warm 67 to 400 µs, cold milliseconds."""
KERNEL_SHORT_NS: Final = 10 * NS_PER_US
"""TraceLens calls kernels below 10 µs short; gpu-idle 25 µs of mean, 50 µs nearly misfired."""
COPY_SHARE_FRACTION: Final = 0.10
"""Host copies. Perfessor, gpu-idle, TraceML 10 %; fournex 15 %."""
COPY_MIN_NS: Final = 20 * NS_PER_US
"""Per step; 0.8 µs of copying is 29 % of a 64×64 step on an H200, and harmless. Own choice."""
D2D_SHARE_FRACTION: Final = 0.05
"""Copies inside the device. H200: compiled 4096² 8 %, naive attention 12 %, training 2 %."""
D2D_MIN_NS: Final = 5 * NS_PER_US
"""Per step. Own choice."""
PAGEABLE_MIN_BYTES: Final = 1_000_000
"""A pageable copy worth a word. Own choice."""
SHARED_MIN_FRACTION: Final = 0.01
"""GPU work of steps beside that of other steps that is worth taking out. Own choice; H200: copies
on a stream of their own that run ahead 23 %, one stream 0 %."""
WAIT_SHARE_FRACTION: Final = 0.20
"""Own choice; H200: a loop with .item() 27 %, training 1 %."""
SYNCHRONISE_SHARE_FRACTION: Final = 0.10
"""Of the step in explicit synchronises. Less than above, because the profiler slows the CPU, so the
GPU has less left to do when the CPU begins to wait: without it the wait is longer. Own choice;
H200: five small products with a synchronise after each 16 %, healthy programs 0 %."""
LOADER_WARN_FRACTION: Final = 0.20
"""Of step time in the data loader: warning. gpu-idle and fournex 20 %, gpuprof 15 %."""
LOADER_NOTE_FRACTION: Final = 0.10
"""Of step time in the data loader: note. Perfessor and TraceML 10 %, tb_plugin 5 %."""
OVERHEAD_SHARE_FRACTION: Final = 0.05
"""Profiler work of active step time. Own choice; H200: 31 and 1.8 % cold, 0 in 35 warm traces."""
LEAK_SHARE_FRACTION: Final = 0.05
"""GPU time without a launch in the file, of the assigned. H200: 20 to 30 % or below 0.1 %."""
LOST_LAUNCH_FRACTION: Final = 0.01
"""Launches without GPU work. H200: 0 of 1,040. Own choice."""
OVERLAP_SHARE_FRACTION: Final = 0.01
"""Clipped time of overlapping kernels. Seen elsewhere: 7 of 55,423 events made 62 % of GPU time."""
OVERLAP_MIN_NS: Final = 5 * NS_PER_US
"""Dependent launches overlap by design by less."""
IMPOSSIBLE_FRACTION: Final = 0.01
"""Kernels with impossible times, of all. H200: 0 of 1,065. Own choice."""
IMPOSSIBLE_COUNT: Final = 10
"""The same as a count."""
THREAD_SHARE_FRACTION: Final = 0.05
"""GPU time launched from threads without operators. Own choice."""
FP32_SHARE_FRACTION: Final = 0.10
"""Of GPU time in fp32 matrix kernels. H200: 98 and 36 % against 0. Own choice."""
TENSOR_CORE_ELIGIBLE_FRACTION: Final = 0.20
"""Matrix work below this share of GPU time is not worth the question. Own choice."""
TENSOR_CORE_SHARE_FRACTION: Final = 0.50
"""Of matrix time on tensor cores. Perfessor 50 % by count, tb_plugin 0 %."""
TENSOR_CORE_UNKNOWN_FRACTION: Final = 0.20
"""More than this of unknown kernel names: no claim. Own choice."""
ALIGNED_SHARE_FRACTION: Final = 0.05
"""Matrix products below this share of GPU time need no word on their sizes. Own choice."""
LAYOUT_SHARE_FRACTION: Final = 0.10
"""Layout conversion, of GPU time. H200: convolution 11 %. Own choice."""
CAST_SHARE_FRACTION: Final = 0.10
"""Number format conversion, of GPU time. Own choice."""
CONVERSION_MIN_NS: Final = 5 * NS_PER_US
"""Floor per step of the two before. Own choice."""
HOTSPOT_FRACTION: Final = 0.50
"""One kernel, of GPU time. Own choice."""
KERNEL_VAR_RATIO: Final = 1.3
"""Maximum over median of one kernel at one place of the step. Own choice; H200: at most 1.04 where
the difference reaches 6 µs."""
KERNEL_VAR_MIN_NS: Final = 5 * NS_PER_US
"""Sub-microsecond kernels vary by 1.63× and 0.4 µs."""
IQR_TO_DECILES: Final = 1.9
"""(p90 - p10) over (p75 - p25) of a normal distribution: 2 × 1.2816 over 2 × 0.6745."""
COMPARISON_NOISE_FRACTION: Final = 0.05
"""Two times that differ by less are equal. nsys-ai 2 % floor, 5 % gate. Step times of two runs must
also differ by more than the noise of `analysis.run_noise`."""
STEP_SPREAD_FRACTION: Final = 0.20
"""(p90 - p10) over the median of unprofiled repeats. Own choice; gpuprof p99/p50 > 2."""
STEP_SPREAD_REPEATS_MIN: Final = 10
"""Fewer repeats say nothing about spread. Own choice."""
MEMORY_HIGH_FRACTION: Final = 0.90
"""Of device memory. tb_plugin, fournex, gpuprof."""
STEPS_FOR_MEDIAN: Final = 3
"""Own choice."""
STEPS_FOR_SPREAD: Final = 5
"""Own choice."""
CPU_OVER_GPU_RATIO: Final = 5.0
"""Self CPU far above Self CUDA. Article 100; H200: launch-bound 16 to 140, else 0.03 to 2.9; 5 is
still above 1 after taking off a threefold inflation."""
ABOUT_EQUAL_MIN_RATIO: Final = 0.8
"""Self CPU about equal to Self CUDA: at least. Own choice."""
ABOUT_EQUAL_MAX_RATIO: Final = 1.25
"""Self CPU about equal to Self CUDA: at most. Own choice."""
MANY_CALLS: Final = 50
"""Calls of one operator in a step. Article: "huge # of Calls"; the value is an own choice."""
TOTAL_OVER_SELF_RATIO: Final = 5.0
"""Total far above self. H200: aten::matmul 386 over 23 µs."""
HOUSEKEEPING_MIN_NS: Final = 1 * NS_PER_MS
"""Closing synchronise beyond pending work. Article 1.78 ms; H200 a few µs."""
QUEUE_EMPTY_MAX_NS: Final = 40 * NS_PER_US
"""Median delay from launch to start below it: the GPU waits. H200: 7 to 33 µs."""
QUEUE_FULL_MIN_NS: Final = 100 * NS_PER_US
"""Median delay at or above it: work is queued. H200: 107 to 11,176 µs."""
SLOW_LAUNCH_MIN_NS: Final = 100 * NS_PER_US
"""One slow launch call. H200: only in the cold run, 2,635 µs."""
SLOW_LAUNCH_RATIO: Final = 10.0
"""The same over the median launch call (19 µs in that run)."""
PEAK_SHARE_HIGH_FRACTION: Final = 0.60
"""Near the peak of memory: only fewer bytes help. H200: pointwise kernels reach 3.1 to 4.1 of
4.8 TB/s."""
MEASURED_SHARE_HIGH_FRACTION: Final = 0.70
"""The same of what a copy was measured to move. H200: 4.2 of 4.8 TB/s, and 0.60 ÷ 0.87 = 0.69."""
SMALL_GRID_BLOCKS: Final = 1.0
"""Blocks per multiprocessor below it leave a part of the chip idle."""
SMALL_GRID_SHARE_FRACTION: Final = 0.20
"""Such kernels below this share of GPU time do not matter. Own choice."""
OCCUPANCY_LOW_PERCENT: Final = 25.0
"""H200: flash attention 13 % in 93 µs beats efficient attention 25 % in 177 µs."""
TINY_GRID_BLOCKS: Final = 0.1
"""Blocks per multiprocessor below it round the estimated occupancy to 0."""
TINY_MEMSET_BYTES: Final = 16
"""A library's own counter; H200: 4 bytes."""
UNRECORDED_SHARE_FRACTION: Final = 0.50
"""Of step time outside any recorded call. Own choice; H200: 22 to 41 %."""
PROFILED_PACE_MIN_RATIO: Final = 1.05
"""GPU time per step above the unprofiled step by more cannot be true of the same work."""
OPTIMIZER_LAUNCHES_MIN: Final = 20
"""Kernel launches of an optimizer step that a foreach one would merge. Own choice."""
INDEX_LOOP_REPEATS: Final = 10
"""Repeats of an indexing group. torch's ForLoopIndexingPattern."""
COMMUNICATION_FRACTION: Final = 0.10
"""Of GPU time in communication kernels. tb_plugin 10 %."""
CLOCK_FULL_FRACTION: Final = 0.95
"""Of the highest clock; lower under load means a power or temperature limit. H200: 1,485 of 1,980
MHz at 700 W in bf16 products. Own choice."""
EVIDENCE_MAX: Final = 5
"""Events shown with an observation: the largest few."""
