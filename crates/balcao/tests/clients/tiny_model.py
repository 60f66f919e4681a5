"""Writes a language model of random weights, the smallest that llama.cpp loads: python tiny_model.py FILE"""

import sys

import gguf
import numpy

WIDTH, HEADS, HIDDEN, CONTEXT = 32, 2, 64, 16384
# Unknown, beginning, end, and a token for each byte.
TOKENS = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
KINDS = [gguf.TokenType.UNKNOWN] + [gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.BYTE] * 256

random = numpy.random.default_rng(1)


def weights(*shape):
    return random.normal(size=shape).astype(numpy.float32)


writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(1)
writer.add_feed_forward_length(HIDDEN)
writer.add_head_count(HEADS)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_tokenizer_model("llama")
writer.add_token_list(TOKENS)
writer.add_token_scores([0.0] * len(TOKENS))
writer.add_token_types(KINDS)
writer.add_unk_token_id(0)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)

for name in ["token_embd", "output"]:
    writer.add_tensor(f"{name}.weight", weights(len(TOKENS), WIDTH))
for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"]:
    writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, dtype=numpy.float32))
for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
    writer.add_tensor(f"blk.0.{name}.weight", weights(WIDTH, WIDTH))
for name in ["ffn_gate", "ffn_up"]:
    writer.add_tensor(f"blk.0.{name}.weight", weights(HIDDEN, WIDTH))
writer.add_tensor("blk.0.ffn_down.weight", weights(WIDTH, HIDDEN))

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
