"""Measured throughputs of training, with their sources."""

TF_BENCH = "tensorflow/docs_src/performance/benchmarks.md @5984ffe (May 2017)"
LAMBDA = "lambdalabs.com, 2080 Ti deep learning benchmarks (Mar 2019, TF 1.12, FP32)"
LAMBDA_CSV = ("LambdaColdStorage/lambda-tensorflow-benchmark tf-train-throughput-fp32.csv and "
              "tf-train-bs-fp32.csv @64f866c, row ")
MXNET = "apache/mxnet docs/how_to/perf.md @076c2a0 (MXNet 0a03417, cuDNN 5.1)"
MXNET_1_2 = "apache/mxnet docs/faq/perf.md @054aeee (MXNet 1.2.0.rc1, cuDNN 7.0.5)"
MXNET_SCALING = "dmlc/mxnet example/image-classification/README.md, EC2 p2.16xlarge, one GPU"
BLUEFOG = ("Bluefog-Lib/bluefog, ResNet-50 on p3.16xlarge, ideal scaling per GPU: read off the pixels "
           "of the plot, about 1 %")
MEMORY = "from memory, unverified"
GCE = TF_BENCH + ", Google Compute Engine"
EC2 = TF_BENCH + ", Amazon EC2, distributed_replicated"
XLA = LAMBDA_CSV + "2080Ti_XLA_trt (XLA)"
JCJOHNSON = "jcjohnson/cnn-benchmarks README (Torch), forward and backward only; derived: 16 / "
ONE_TOWER = "; its AlexNet is the one-tower variant (64, 192, 384, 384, 256 channels)"

NVIDIA_BERT = ("NVIDIA/DeepLearningExamples, PyTorch/LanguageModeling/BERT/README.md @23a6382: pre-training, 128 "
               "tokens, ")
NVIDIA_RESNET = ("NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5/README.md @291f0d0: one "
                 "of the GPUs of a DGX ")
LLM_C = "karpathy/llm.c, "

# One GPU each: device, batch (None: not stated), samples per second, source, precision unless it is fp32. A sample of a
# language model is a sequence, and rates of several GPUs, which include their exchange, are divided by their number.
THROUGHPUT = {
    "bert-large": [
        ("v100", 8, 33.36, NVIDIA_BERT + "DGX-1 of 16 GB, one GPU, FP32"),
        ("v100", 32, 40.32, NVIDIA_BERT + "DGX-1 of 32 GB, one GPU, FP32"),
        ("v100", 16, 125.44, NVIDIA_BERT + "DGX-1 of 16 GB, one GPU, mixed precision", "fp16"),
        ("v100", 64, 171.52, NVIDIA_BERT + "DGX-1 of 32 GB, one GPU, mixed precision", "fp16"),
    ],
    "gpt2": [
        ("a100-40gb", None, 104.2, "karpathy/nanoGPT README.md: about 4 days on 8 GPUs for the 600,000 iterations of "
         "491,520 tokens of config/train_gpt2.py, with evaluations; derived: 600000 x 480 / (4 x 86400 x 8). "
         "bfloat16: whose peak model.py compares with (pull request 464)", "bf16"),
        ("a100-80gb", None, 226, LLM_C + "discussion #481, quoted by edworking.com: 10 billion tokens in about 90 "
         "minutes on 8 GPUs (SXM); derived: 1e10 / 1024 / (90 x 60 x 8). bfloat16: a post of the author on the "
         "project, zamantika.com", "bf16"),
        ("h100-sxm", None, 366, "jjschwartz.github.io, scaling-gpt2: 3 million tokens per second on 8 GPUs; derived: "
         "3e6 / 1024 / 8. bfloat16 is assumed", "bf16"),
    ],
    "gpt2-xl": [
        ("h100-sxm", None, 47.4, LLM_C + "discussion #677, mirrored by vuink.com: 24 hours on 8 GPUs; its 32,000 steps "
         "of 1,048,576 tokens: from memory, unverified; derived: 32000 x 1024 / (86400 x 8). The author's post says about "
         "50 % of the peak (topicdigg.com)", "bf16"),
    ],
    "llama-7b": [
        ("a100-80gb", None, 1.645, "Touvron et al., LLaMA, 2023: 82,432 GPU hours (Table 15) for 1.0T tokens (Table "
         "2), on up to 2048 GPUs; derived: 1e12 / 2048 / (82432 x 3600). bfloat16 is assumed", "bf16"),
    ],
    "tinyllama-1.1b": [
        ("a100-40gb", 8, 11.72, "jzhang38/TinyLlama README.md: 24k tokens per second and GPU, 16k tokens per GPU, 16 "
         "GPUs; derived: 24000 / 2048. It states 56 % of the peak, that of bfloat16", "bf16"),
    ],
    "alexnet": [
        ("p100", 512, 2987, TF_BENCH + ONE_TOWER),
        ("k80", 512, 656, GCE + ONE_TOWER),
        ("gtx-1080-ti", 512, 2636, LAMBDA_CSV + "1080Ti" + ONE_TOWER),
        ("rtx-2080-ti", 512, 4184, XLA + ONE_TOWER),
        ("p100", 128, 2012.04, MXNET + "; batch 8 x 16"),
        ("p100", 256, 1869.69, MXNET + "; batch 8 x 32"),
        ("m40", 256, 1046.23, MXNET + "; batch 8 x 32"),
        ("k80", 256, 483.37, MXNET + "; batch 8 x 32"),
        ("v100", 512, 2585.61, MXNET_1_2 + "; batch 16 x 32"),
        ("gtx-1080-ti", 16, 1151.9, JCJOHNSON + "13.89 ms"),
        ("titan-x-pascal", 16, 1098.9, JCJOHNSON + "14.56 ms"),
        ("gtx-1080", 16, 771.5, JCJOHNSON + "20.74 ms"),
        ("titan-x-maxwell", 16, 732.3, JCJOHNSON + "21.85 ms"),
        ("k80", 512, 457.07, MXNET_SCALING),
        ("titan-xp", None, 3004, MEMORY + ONE_TOWER),
    ],
    "googlenet": [
        ("titan-x-pascal", 16, 408.8, JCJOHNSON + "39.14 ms (its Inception-v1)"),
        ("gtx-1080", 16, 284.9, JCJOHNSON + "56.16 ms (its Inception-v1)"),
    ],
    "inception-v3": [
        ("p100", 64, 142, TF_BENCH),
        ("p100", 32, 128, TF_BENCH),
        ("k80", 64, 30.5, GCE),
        ("k80", 64, 29.7, EC2),
        ("titan-xp", None, 151, LAMBDA),
        ("gtx-1080-ti", None, 136, LAMBDA),
        ("rtx-2080-ti", None, 194, LAMBDA),
        ("gtx-1080-ti", 64, 131, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 64, 214, XLA),
        ("p100", 32, 129.98, MXNET),
        ("m40", 32, 68.87, MXNET),
        ("k80", 32, 29.62, MXNET),
        ("v100", 32, 214.48, MXNET_1_2),
        ("v100", 64, 247.43, MXNET_1_2),
        ("k80", 32, 30.4, MXNET_SCALING),
    ],
    "vgg-16": [
        ("p100", 64, 154, TF_BENCH),
        ("p100", 32, 144, TF_BENCH),
        ("k80", 32, 35.4, GCE),
        ("gtx-1080-ti", 56, 125, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 56, 190, XLA),
        ("titan-x-pascal", 16, 124.4, JCJOHNSON + "128.62 ms"),
        ("gtx-1080", 16, 87.5, JCJOHNSON + "182.79 ms"),
        ("titan-xp", None, 149, MEMORY),
    ],
    "resnet-50": [
        ("p100", 64, 219, TF_BENCH),
        ("p100", 32, 195, TF_BENCH),
        ("k80", 64, 51.9, GCE),
        ("k80", 64, 52.4, EC2),
        ("titan-xp", None, 236, LAMBDA),
        ("gtx-1080-ti", None, 209, LAMBDA),
        ("rtx-2080-ti", None, 294, LAMBDA),
        ("gtx-1080-ti", 64, 209, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 64, 321, XLA),
        ("p100", 32, 181.53, MXNET),
        ("m40", 32, 90.74, MXNET),
        ("k80", 32, 45.52, MXNET),
        ("v100", 32, 298.51, MXNET_1_2),
        ("v100", 64, 343.19, MXNET_1_2),
        ("gtx-1080-ti", 16, 158.1, JCJOHNSON + "101.21 ms"),
        ("titan-x-pascal", 16, 154.5, JCJOHNSON + "103.58 ms"),
        ("gtx-1080", 16, 106.8, JCJOHNSON + "149.82 ms"),
        ("v100", 32, 314.9, BLUEFOG),
        ("v100", None, 1200, NVIDIA_RESNET + "1 of 16 GB, mixed precision", "fp16"),
        ("a100-80gb", None, 938, NVIDIA_RESNET + "A100, TF32", "tf32"),
        ("a100-80gb", None, 2470, NVIDIA_RESNET + "A100, mixed precision", "fp16"),
    ],
    "resnet-152": [
        ("p100", 64, 91.8, TF_BENCH),
        ("p100", 32, 82.7, TF_BENCH),
        ("k80", 32, 20.0, GCE),
        ("k80", 32, 19.4, EC2),
        ("titan-xp", None, 90, LAMBDA),
        ("gtx-1080-ti", None, 81, LAMBDA),
        ("rtx-2080-ti", None, 110, LAMBDA),
        ("gtx-1080-ti", 32, 83, LAMBDA_CSV + "1080Ti"),
        ("rtx-2080-ti", 32, 122, XLA),
        ("k80", 32, 20.08, MXNET_SCALING),
        ("titan-x-pascal", 16, 73.4, JCJOHNSON + "217.91 ms"),
    ],
}


def measured(device, batch, rate, source, precision="fp32"):
    stated = {} if precision == "fp32" else {"precision": precision}
    stated |= {} if batch is None else {"batch": batch}
    return {"device": device, "gpus": 1} | stated | {"samples_per_s": rate, "source": source}
