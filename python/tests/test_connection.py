"""A plugin notices the end of its host's connection."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc

from rlrun import _goplugin


def test_an_end_before_the_first_message_is_noticed() -> None:
    gone, done = threading.Event(), threading.Event()
    server = grpc.server(ThreadPoolExecutor(4))
    _goplugin.add_services(server, gone.set)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    def never() -> Iterator[bytes]:
        done.wait()
        yield b""

    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    call = channel.stream_stream("/plugin.GRPCStdio/StreamStdio")(never())
    channel.unary_unary("/grpc.health.v1.Health/Check")(b"")  # the server has seen the call above, too
    assert not gone.is_set()
    channel.close()
    assert gone.wait(10)
    assert call.code() is grpc.StatusCode.CANCELLED
    done.set()
    server.stop(None)
