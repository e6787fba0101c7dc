"""The graph process for graphs written in Python: it speaks the protocol of src/graphs/host/protocol.ts."""
