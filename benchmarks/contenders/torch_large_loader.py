"""The same as `torch_large`, fed by a DataLoader with eight processes."""

from contenders.torch_large import serve_torch

if __name__ == "__main__":
    serve_torch(with_loader=True)
