"""go-plugin's side of the protocol: handshake, certificates and control services.

It follows github.com/hashicorp/go-plugin, core protocol 1, with gRPC.
"""

from __future__ import annotations

import base64
import datetime
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rlrun._pb import goplugin_pb2 as pb

CORE_VERSION = 1
VERSION = 1
"""The version of plugin.proto."""
COOKIE = ("RLRUN_PLUGIN", "c2b1e0a7-rlrun-plugin")
CLIENT_CERT = "PLUGIN_CLIENT_CERT"
SOCKET_DIR = "PLUGIN_UNIX_SOCKET_DIR"
VERSIONS = "PLUGIN_PROTOCOL_VERSIONS"


class Identity:
    """A certificate for this process's life, and its key.

    The curve is P-256. go-plugin's own certificates are on P-521, which the
    BoringSSL in grpcio's wheels does not accept for signatures, from neither side.
    """

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name(
            [
                x509.NameAttribute(NameOID.COMMON_NAME, "localhost"),
                x509.NameAttribute(NameOID.ORGANIZATION_NAME, "rlrun"),
            ]
        )
        usage = dict.fromkeys(
            (
                "content_commitment",
                "data_encipherment",
                "key_encipherment",
                "crl_sign",
                "encipher_only",
                "decipher_only",
            ),
            False,
        )
        # It ends with the process, not with a date: clocks jump, and a process may have one of its own.
        begin, end = (datetime.datetime(year, 1, 1, tzinfo=datetime.timezone.utc) for year in (2000, 2049))
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.KeyUsage(digital_signature=True, key_agreement=True, key_cert_sign=False, **usage), critical=True
            )
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]),
                critical=False,
            )
            .sign(key, hashes.SHA256())
        )
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.key = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        der = certificate.public_bytes(serialization.Encoding.DER)
        self.line = base64.b64encode(der).decode().rstrip("=")
        """The certificate as it stands in a handshake line."""


def certificate_of(line: str) -> tuple[bytes, bool]:
    """Return the certificate in a handshake line as PEM, and whether grpcio can check its signatures."""
    certificate = x509.load_der_x509_certificate(base64.b64decode(line + "=" * (-len(line) % 4)))
    key = certificate.public_key()
    able = not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp521r1"
    return certificate.public_bytes(serialization.Encoding.PEM), able


def handshake_line(address: str, identity: Identity | None) -> str:
    """Return the line by which a plugin says where it listens."""
    return f"{CORE_VERSION}|{VERSION}|unix|{address}|grpc|{identity.line if identity else ''}\n"


def socket_path() -> str:
    """Return a path for a socket, in the directory that the host set aside if there is one."""
    directory = os.environ.get(SOCKET_DIR)
    if not directory:
        directory = tempfile.mkdtemp(prefix="rlrun")
    return os.path.join(directory, "plugin")


def add_services(server: grpc.Server, end: Callable[[], None]) -> None:
    """Add go-plugin's services. end is called when the host says so, and when its connection has ended."""

    def check(_request: Any, _context: grpc.ServicerContext) -> pb.HealthCheckResponse:
        return pb.HealthCheckResponse(status=pb.HealthCheckResponse.SERVING)

    def stop(_request: Any, _context: grpc.ServicerContext) -> pb.Empty:
        end()
        return pb.Empty()

    def hold(_request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Say nothing for as long as the connection lasts."""
        ended = threading.Event()
        if context.add_callback(ended.set):
            ended.wait()
        return iter(())

    def stdio(request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Forward nothing: what the process prints goes to its standard error.

        The call has one request message. It is served as a stream, as gRPC does not call the
        handler of a message whose connection ends before the message was read.
        """
        if not context.add_callback(end):
            end()
        return hold(request, context)

    unary, both = grpc.unary_unary_rpc_method_handler, grpc.stream_stream_rpc_method_handler
    empty = {"request_deserializer": pb.Empty.FromString}
    for service, methods in (
        ("grpc.health.v1.Health", {"Check": unary(check, response_serializer=_encode, **empty)}),
        ("plugin.GRPCController", {"Shutdown": unary(stop, response_serializer=_encode, **empty)}),
        ("plugin.GRPCStdio", {"StreamStdio": both(stdio, response_serializer=_encode)}),
        ("plugin.GRPCBroker", {"StartStream": both(hold)}),
    ):
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))


def _encode(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data
