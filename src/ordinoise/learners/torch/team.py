"""The processes that train together, started by ``torchrun``; a single process is a team of one."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from ordinoise._validation import Floats, complain

_JOININGS = count()
_ONE_AT_A_TIME = threading.RLock()


@dataclass(frozen=True)
class Team:
    """One process among those that train together.

    Parameters
    ----------
    rank, size : int
        Number of this process, from zero, and number of processes.
    device : torch.device
        Device of this process.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def is_lead(self) -> bool:
        """Whether this is the process that writes files and calls callbacks."""
        return self.rank == 0

    def total(self, values: Tensor) -> Tensor:
        """Sum over the processes, the same in all."""
        if self.size == 1:
            return values
        summed = values.detach().clone()
        dist.all_reduce(summed)
        return summed

    def count(self, number: int) -> int:
        """Sum of a whole number over the processes."""
        return number if self.size == 1 else int(self.total(torch.tensor([number], device=self.device)).item())

    def agreed(self, number: int) -> int:
        """The number of the lead process, in all processes."""
        return self.count(number if self.is_lead else 0)

    def gathered(self, numbers: Floats) -> list[Floats]:
        """The numbers of every process, in their order."""
        if self.size == 1:
            return [numbers]
        own = torch.from_numpy(numbers).to(self.device)
        everyones = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(everyones, own)
        return [one.cpu().numpy() for one in everyones]

    def follow(self, tensors: Iterable[Tensor]) -> None:
        """Overwrite tensors with those of the lead process."""
        if self.size > 1:
            for tensor in tensors:
                dist.broadcast(tensor.data, src=0)


@contextmanager
def joined(device: str | torch.device = "auto") -> Iterator[Team]:
    """The team of this process: from ``torchrun``'s environment variables, or this process alone.

    An existing process group is used, and not closed.
    """
    size, here = int(os.environ.get("WORLD_SIZE", "1")), as_device(device)
    if dist.is_available() and dist.is_initialized():
        yield Team(dist.get_rank(), dist.get_world_size(), here)
    elif size == 1 or "RANK" not in os.environ:
        yield Team(0, 1, here)
    else:
        # One prefix per group and attempt: connecting to addresses that an earlier one left in the store would fail.
        store, rank, size = next(iter(rendezvous("env://")))
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        own_store = PrefixStore(f"ordinoise-{attempt}-{next(_JOININGS)}", store)
        backend = "nccl" if here.type == "cuda" else "gloo"
        dist.init_process_group(backend, store=own_store, rank=rank, world_size=size)
        try:
            yield Team(rank, size, here)
        finally:
            dist.destroy_process_group()


def as_device(device: str | torch.device) -> torch.device:
    """The named device; "auto" takes a GPU if there is one, a different one for each local process."""
    if isinstance(device, str) and device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError):
        raise complain("device", "be 'auto' or the name of a PyTorch device", repr(device)) from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise complain("device", "be there", f"{device!r} without a usable GPU", "'auto' takes what there is")
    return found


@contextmanager
def own_randomness(seed: int, device: torch.device) -> Iterator[None]:
    """Seed PyTorch's global generators, and restore them afterwards; one thread at a time."""
    devices = [device] if device.type == "cuda" else []
    with _ONE_AT_A_TIME, torch.random.fork_rng(devices):
        reseed(seed, device)
        yield


def reseed(seed: int, device: torch.device) -> None:
    """Seed the generators that modules on this device draw from."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)
