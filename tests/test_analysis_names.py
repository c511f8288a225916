"""Kernel names as libraries write them, decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profcore.analysis import names

NVJET = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_NNT"
AMPERE = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"
FFMA = (
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4"
    "_alignc4_execute_kernel__51_cublas"
)
TF32_CONV = (
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16"
    "_stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn"
)
CUTLASS = (
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>"
    "(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)"
)
FLASH = (
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
    "false, false, cutlass::bfloat16_t>>(pytorch_flash::Flash_fwd_params)"
)
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>)"
)
MULTIPLY = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
    "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float>"
    " > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"
)
COPY = (
    "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
    "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(float)#1}>(int)"
)
MEAN = (
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float,"
    " float, float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float>)"
)
CONCATENATE = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2, 128>(float*)"
FOREACH = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::CopyFunctor<float>>()"
)
TENSILE = (
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT320x224x64_MI16x16x1_SN_LDSB0_AFC1_AG0_AFEM1"
)
CK_CONV = (
    "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3"
    "INS_34GridwiseGemmMultiD_xdl_cshuffle_v3E"
)
CK_NORM = "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassE"

CASES = [
    # name, short name, family, tensor cores
    (NVJET, NVJET, "gemm", True),
    (AMPERE, AMPERE, "gemm", True),
    (FFMA, FFMA[:63] + "…", "gemm", False),
    ("volta_sgemm_128x32_nt", "volta_sgemm_128x32_nt", "gemm", False),
    ("volta_h884gemm_64x64_ldg8_nn", "volta_h884gemm_64x64_ldg8_nn", "gemm", True),
    (CUTLASS, CUTLASS[len("void cutlass::Kernel2<") :][:63] + "…", "gemm", True),
    (TF32_CONV, TF32_CONV[:63] + "…", "convolution", True),
    (
        "void implicit_convolve_sgemm<float, 128>(int)",
        "implicit_convolve_sgemm",
        "convolution",
        False,
    ),
    (FLASH, "pytorch_flash::flash_fwd_kernel", "attention", True),
    ("fmha_cutlassF_bf16_aligned_64x64_rf_sm80", None, "attention", True),
    ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob", None, "attention", True),
    ("attn_fwd", "attn_fwd", "attention", None),
    (ADD, "vectorized_elementwise_kernel: CUDAFunctor_add", "elementwise", False),
    (MULTIPLY, "elementwise_kernel: MulFunctor", "elementwise", False),
    (FOREACH, "multi_tensor_apply_kernel: CopyFunctor", "elementwise", False),
    (COPY, "unrolled_elementwise_kernel: direct_copy_kernel_cuda", "copy", False),
    (CONCATENATE, "CatArrayBatchedCopy", "copy", False),
    (MEAN, "reduce_kernel: MeanOps", "reduction", False),
    ("void (anonymous namespace)::softmax_warp_forward<float>(float*)", None, "reduction", False),
    ("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float>(int)", None, "reduction", False),
    (
        "void splitKreduce_kernel<32, 16, int, float>(int)",
        "splitKreduce_kernel",
        "reduction",
        False,
    ),
    ("void cudnn::ops::nchwToNhwcKernel<float>(int)", "nchwToNhwcKernel", "memory format", False),
    ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)", None, "communication", False),
    ("triton_poi_fused_add_gelu_0", "triton_poi_fused_add_gelu_0", "triton", False),
    ("triton_tem_fused_addmm_3", "triton_tem_fused_addmm_3", "triton", None),
    (TENSILE, "Cijk_Alik_Bljk_BBS_MT320x224x64", "gemm", True),
    (
        CK_CONV,
        "ck::tensor_operation::device::kernel_grouped_conv_fwd_xdl_cshuf…",
        "convolution",
        True,
    ),
    (CK_NORM, "ck_tile::kentry", "reduction", False),
    ("my_kernel", "my_kernel", "other", None),
    ("fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", None, "other", None),
]


@pytest.mark.parametrize(
    ("name", "short", "family", "cores"), CASES, ids=lambda value: str(value)[:40]
)
def test_what_a_name_says(name: str, short: str | None, family: str, cores: bool | None) -> None:  # noqa: FBT001
    if short:
        assert names.short_name(name) == short
    assert names.family(name) == family
    assert names.tensor_cores(name) is cores


def test_every_family_has_a_case() -> None:
    assert {case[2] for case in CASES} == set(names.FAMILIES)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            NVJET,
            (
                "cuBLAS matrix multiply (nvjet), built for Hopper, probably bf16, tile 256x128, "
                "K in steps of 64, 4 stages, cluster 1x2, adds a bias vector; tensor cores"
            ),
        ),
        (
            AMPERE,
            (
                "cuBLAS matrix multiply, built for Ampere, bf16, tile 128x256, 3 stages, "
                "layouts nn; tensor cores"
            ),
        ),
        (
            FFMA,
            (
                "cuBLAS matrix multiply, built for Ampere, fp32, tile 128x128, K in steps of 8, "
                "3 stages, layouts nn; no tensor cores"
            ),
        ),
        (
            TF32_CONV,
            (
                "cuDNN convolution, forward, built for Ampere, TF32, tile 128x128, "
                "K in steps of 16, 4 stages; tensor cores"
            ),
        ),
        (FLASH, "flash attention, forward, bf16; tensor cores"),
        (
            TENSILE,
            (
                "rocBLAS or hipBLASLt matrix multiply (Tensile), bf16, tile 320x224, "
                "K in steps of 64, can add a bias; matrix cores"
            ),
        ),
        (
            "triton_poi_fused_add_gelu_0",
            "Triton pointwise kernel written by torch.compile, fused from: add gelu",
        ),
        (
            "triton_tem_fused_addmm_3",
            "Triton template written by torch.compile, fused from: addmm; tensor cores: unknown",
        ),
        (COPY, "copies or converts elements: no arithmetic"),
        ("my_kernel", "unknown kernel: the name says nothing that is known here"),
    ],
    ids=lambda value: value[:30],
)
def test_a_name_in_words(name: str, line: str) -> None:
    assert names.reading(name) == line


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "<",
        "(",
        "_Z",
        "_ZN",
        "_ZN999999999999x",
        "void ",
        "a" * 5_000,
        "::" * 3_000,
        "<" * 9_000,
    ],
)
def test_odd_names_are_decoded_all_the_same(name: str) -> None:
    assert 0 < len(names.short_name(name)) <= names.SHORT_MAX
    assert names.family(name) == "other"
    assert names.tensor_cores(name) is None
    assert names.reading(name)


@given(st.text(max_size=300))
def test_any_text_is_decoded(name: str) -> None:
    assert 0 < len(names.short_name(name)) <= names.SHORT_MAX
    assert names.family(name) in names.FAMILIES
    assert names.tensor_cores(name) in {True, False, None}
    assert names.reading(name)


@pytest.mark.parametrize("piece", ["_a", "fprop", "_kernel", "Functor<", "sm", "1x", "cutlass::"])
def test_only_the_beginning_of_a_long_name_is_looked_at(piece: str) -> None:
    # Template arguments can run to hundreds of thousands of characters.
    name = piece * (1_000_000 // len(piece))
    beginning = name[: names.READ_MAX]
    for decode in (names.short_name, names.family, names.tensor_cores, names.reading):
        assert decode(name) == decode(beginning)
