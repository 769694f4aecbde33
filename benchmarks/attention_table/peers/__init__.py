"""The peers: one small adapter each, all with the same three words (see ``peer.py``)."""

from .peer import Absent, Peer, Way
from .registry import LOOKING, OURS, PEERS, TORCH, VIEWED, chosen_peers

__all__ = ["LOOKING", "OURS", "PEERS", "TORCH", "VIEWED", "Absent", "Peer", "Way", "chosen_peers"]
