"""What learns from tables of numbers, each alone: the compiled network, boosted trees, PyTorch."""
