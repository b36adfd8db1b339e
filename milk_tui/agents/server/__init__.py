"""The local agent on a model server: any program with an OpenAI-compatible `/v1`."""
