"""Judges of passages and strips: the small local model, one batched model call, an ONNX scorer."""
