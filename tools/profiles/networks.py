"""The networks that have a profile, and what was published about each.

"published" is parameters, MiB of the gradient, nominal bytes at density 0.001, and their source.
"""

from profiles import architectures

DGC = "Lin et al., Deep Gradient Compression, ICLR 2018"
BYTE_MODEL = ("nominal bytes derived: 6 B x 0.001 of the elements of tensors with two or more "
              "dimensions + 4 B per element of the 1-D tensors")
IMAGENET = {"name": "ImageNet-1k", "samples": 1281167,
            "source": "ILSVRC 2012 training images: Hugging Face dataset card of imagenet-1k"}

GPT2_SOURCE = ("Radford et al., 2019; openai/gpt-2 src/model.py; sizes as in karpathy/nanoGPT model.py, which loads "
               "the released weights")
GPT2_PUBLISHED = ("parameters as transformers counts them (friedeggs/in-context_learning, data/model_info.py); MiB "
                  "derived; "
                  f"{BYTE_MODEL}")

NETWORKS = {
    "alexnet": {
        "title": "AlexNet, grouped (Caffe), 227 x 227 px",
        "source": "Krizhevsky et al., NIPS 2012; BVLC/caffe models/bvlc_alexnet/train_val.prototxt",
        "dataset": IMAGENET, "layers": architectures.alexnet,
        "published": (60965224, 232.56, 408000, f"gradient size: {DGC}, Table 3 (0.39 MB, 597x); "
                      f"parameters derived; {BYTE_MODEL}"),
    },
    "vgg-16": {
        "title": "VGG-16, configuration D, 224 x 224 px",
        "source": "Simonyan and Zisserman, ICLR 2015, configuration D",
        "dataset": IMAGENET, "layers": architectures.vgg_16,
        "published": (138357544, 527.79, 883729, "parameters: torchvision weight metadata; "
                      f"gradient size derived; {BYTE_MODEL}"),
    },
    "resnet-50": {
        "title": "ResNet-50, stride on the 3 x 3 convolutions, 224 x 224 px",
        "source": "He et al., CVPR 2016; layer names and strides as in torchvision",
        "dataset": IMAGENET, "layers": architectures.resnet_50,
        "published": (25557032, 97.49, 369497, f"gradient size: {DGC}, Table 3 (0.35 MB, 277x); "
                      f"parameters: torchvision weight metadata; {BYTE_MODEL}"),
    },
    "resnet-110": {
        "title": "ResNet-110 for CIFAR, shortcuts without parameters (option A), 32 x 32 px",
        "source": "He et al., CVPR 2016, the CIFAR networks with n = 18",
        "dataset": {"name": "CIFAR-10", "samples": 50000,
                    "source": "training images: TensorFlow Datasets, cifar10"},
        "layers": architectures.resnet_110,
        "published": (1727962, 6.59, 42743,
                      f"parameters and gradient size derived from the architecture; {BYTE_MODEL}"),
    },
    "ptb-lstm": {
        "title": "PTB language model: LSTM 2 x 1500, vocabulary 10,000, tied embedding",
        "source": f"{DGC}: two layers, 1500 units, tied embedding; "
                  "tensors, with two bias vectors a layer, as in PyTorch",
        "sample": "token",
        "dataset": {"name": "Penn Treebank", "samples": 929589,
                    "source": "training tokens: word counts of the files that Mikolov prepared, in the "
                              "docstring of a loader"},
        "layers": architectures.ptb_lstm,
        "published": (51034000, 194.68, 442000, f"gradient size: {DGC}, Table 4 (0.42 MB, 462x); "
                      f"parameters derived; {BYTE_MODEL}"),
    },
    "vgg-a": {
        "title": "VGG-A (11 layers), 224 x 224 px",
        "source": "Simonyan and Zisserman, ICLR 2015, configuration A; the VggNet-A of TernGrad "
                  "(Wen et al., NeurIPS 2017)",
        "dataset": IMAGENET, "layers": architectures.vgg_a,
        "published": (132863336, 506.83, 844884, "parameters derived from the architecture, MiB "
                      f"from them; {BYTE_MODEL}"),
    },
    "googlenet": {
        "title": "GoogLeNet (Inception-v1) as BVLC's, without the auxiliary heads, 224 x 224 px",
        "source": "Szegedy et al., CVPR 2015; sizes as in BVLC/caffe models/bvlc_googlenet",
        "dataset": IMAGENET, "layers": architectures.googlenet,
        "published": (6998552, 26.70, 75062, "parameters: count of the BVLC net from memory, "
                      f"unverified, and met by the derivation; MiB derived; {BYTE_MODEL}"),
    },
    "inception-v3": {
        "title": "Inception-v3 with its auxiliary head, 299 x 299 px",
        "source": "Szegedy et al., CVPR 2016; layers as in torchvision. The auxiliary head, used in "
                  "training only, has 3,326,696 of the parameters: without it the net has "
                  "23,834,568, the ~23.8 million often quoted",
        "dataset": IMAGENET, "layers": architectures.inception_v3,
        "published": (27161264, 103.61, 315634, "parameters: torchvision weight metadata; MiB "
                      f"derived; {BYTE_MODEL}"),
    },
    "resnet-101": {
        "title": "ResNet-101, stride on the 3 x 3 convolutions, 224 x 224 px",
        "source": "He et al., CVPR 2016; layer names and strides as in torchvision",
        "dataset": IMAGENET, "layers": architectures.resnet_101,
        "published": (44549160, 169.94, 692033, "parameters: torchvision weight metadata; MiB "
                      f"derived; {BYTE_MODEL}"),
    },
    "resnet-152": {
        "title": "ResNet-152, stride on the 3 x 3 convolutions, 224 x 224 px",
        "source": "He et al., CVPR 2016; layer names and strides as in torchvision",
        "dataset": IMAGENET, "layers": architectures.resnet_152,
        "published": (60192808, 229.62, 969938, "parameters derived, published as 60.2M (Poseidon "
                      f"documentation); MiB derived; {BYTE_MODEL}"),
    },
    "deepspeech": {
        "title": "DeepSpeech stand-in: 3 convolutions, 7 bidirectional GRU x 1200 (layout assumed)",
        "source": f"{DGC}: 7 GRU layers of 1200 and a gradient of 488.08 MB, LibriSpeech; the layout "
                  "was not published. Stand-in: the three convolutions of Deep Speech 2 (161 "
                  "frequencies and twice 32 channels: a paper that uses it, PMC10718467, Table 5; 96 "
                  "channels of the third: from memory, unverified), no biases in them, "
                  "directions summed, two GRU bias vectors, batch norm between layers, 29 "
                  "characters: chosen because it meets 488.08 MiB",
        "sample": "second of audio",
        "dataset": {"name": "LibriSpeech", "samples": 3456000,
                    "source": "960 hours in seconds: TensorFlow Datasets, librispeech"},
        "layers": architectures.deepspeech,
        "published": (127948528, 488.08, 1238664, f"gradient size: {DGC}, Table 4. Its 0.74 MB for "
                      "DGC is not met and contradicts itself: 488.08 / 0.74 is 660x, 608x is "
                      "printed; with every tensor sparse it would be 0.73 MiB; parameters of the "
                      f"stand-in derived; {BYTE_MODEL}"),
    },
    "bert-base": {
        "title": "BERT-Base (uncased) with both pre-training heads, sequences of 128 tokens",
        "source": "Devlin et al., NAACL 2019: 12 layers, hidden 768, 12 heads, inner 3072, 512 "
                  "positions; vocabulary 30,522 as in google-bert/bert-base-uncased config.json. "
                  "Without the heads 109,482,240 parameters. Multiply-accumulates as for bert-large",
        "sample": "sequence", "tokens": 128, "layers": architectures.bert_base,
        "published": (110106428, 420.02, 1279469, "parameters derived; 110M: "
                      f"google-research/bert README.md; MiB derived; {BYTE_MODEL}"),
    },
    "bert-large": {
        "title": "BERT-Large (uncased) with both pre-training heads, sequences of 128 tokens",
        "source": "Devlin et al., NAACL 2019: 24 layers, hidden 1024, 16 heads, inner 4096, 512 "
                  "positions; vocabulary 30,522 as in google-bert/bert-large-uncased config.json. "
                  "Without the heads 335,141,888 parameters. Multiply-accumulates: 128 tokens, "
                  "attention over all of them, the decoder at 20 masked ones (20: "
                  "google-research/bert README.md)",
        "sample": "sequence", "tokens": 128, "layers": architectures.bert_large,
        "published": (336226108, 1282.60, 3439844, "parameters derived; 336M: DeepSpeedExamples "
                      "autotuning page, by way of a summary; 340M with rounding: "
                      f"google-research/bert README.md; MiB derived; {BYTE_MODEL}"),
    },
    "transformer": {
        "title": "Transformer (big), WMT'16 En-De, joined vocabulary 32,768",
        "source": "Vaswani et al., NIPS 2017, big: 6 + 6 layers, width 1024, 16 heads, inner 4096 "
                  "(TensorFlow models, model_params.py; fairseq transformer_vaswani_wmt_en_de_big); "
                  "joined vocabulary 32,768, all embeddings shared: "
                  "fairseq examples/scaling_nmt/README.md; that SlowMo (Wang et al., ICLR 2020) used "
                  "this one is assumed: it says transformer, WMT'16 En-De. Multiply-accumulates of a "
                  "target token and a source token; products of attention, which grow with the "
                  "sentence (2 x 1024 per pair of tokens), are not counted",
        "sample": "token", "layers": architectures.transformer_big,
        "published": (209911808, 800.75, 2044723, "parameters derived; 210M in Ott et al., WMT "
                      f"2018 (from memory, unverified); MiB derived; {BYTE_MODEL}"),
    },
    "gpt2": {
        "title": "GPT-2 (124M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": architectures.gpt2(12, 768, 12),
        "published": (124439808, 474.70, 1231287, GPT2_PUBLISHED),
    },
    "gpt2-medium": {
        "title": "GPT-2 (medium, 355M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": architectures.gpt2(24, 1024, 16),
        "published": (354823168, 1353.54, 3413154, GPT2_PUBLISHED),
    },
    "gpt2-large": {
        "title": "GPT-2 (large, 774M), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": architectures.gpt2(36, 1280, 20),
        "published": (774030080, 2952.69, 7046971, GPT2_PUBLISHED),
    },
    "gpt2-xl": {
        "title": "GPT-2 (XL, 1.5B), sequences of 1024 tokens",
        "source": GPT2_SOURCE, "sample": "sequence", "transformer": architectures.gpt2(48, 1600, 25),
        "published": (1557611200, 5941.82, 13346058, GPT2_PUBLISHED),
    },
    "tinyllama-1.1b": {
        "title": "TinyLlama-1.1B, sequences of 2048 tokens",
        "source": "jzhang38/TinyLlama README.md: 22 layers, 32 heads, 4 query groups, width 2048, inner 5632, "
                  "sequences of 2048; architecture and tokenizer of Llama 2, vocabulary 32,000",
        "sample": "sequence", "transformer": architectures.llama(22, 2048, 32, 4, 5632),
        "published": (1100048384, 4196.35, 6968377, "parameters as transformers and llama.cpp count "
                      f"them; MiB derived; {BYTE_MODEL}"),
    },
    "llama-7b": {
        "title": "Llama-7B, sequences of 2048 tokens",
        "source": "Touvron et al., LLaMA, 2023, Table 2: width 4096, 32 heads, 32 layers; inner 11008, vocabulary "
                  "32,000, sequences of 2048, output not tied: config.json of huggyllama/llama-7b",
        "sample": "sequence", "transformer": architectures.llama(32, 4096, 32, 32, 11008),
        "published": (6738415616, 25705.02, 41493856, "parameters: README.md of calflops (MrYxJ); MiB "
                      f"derived; {BYTE_MODEL}"),
    },
    "vit-b-16": {
        "title": "ViT-B/16, 224 x 224 px",
        "source": "Dosovitskiy et al., ICLR 2021; layer names as in torchvision",
        "dataset": IMAGENET, "layers": architectures.vit_b_16,
        "published": (86567656, 330.23, 1011115, "parameters: torchvision weight metadata, "
                      f"which has 17.6 GMACs; MiB derived; {BYTE_MODEL}"),
    },
}
