"""A host over TLS that sends one kind of thing for ever: hostile.py KIND CERTIFICATE. Prints its port."""
import socket, ssl, struct, sys, threading

kind, certificate = sys.argv[1:]


def frame(type, flags, stream, body=b""):
    return struct.pack(">I", len(body))[1:] + bytes([type, flags]) + struct.pack(">I", stream) + body


ANSWER = frame(4, 0, 0) + frame(1, 4, 1, b"\x88")
KINDS = {
    "empty-data": (ANSWER, frame(0, 0, 1)),
    "window-updates": (ANSWER, frame(8, 0, 0, b"\0\0\0\1")),
    "pings": (ANSWER, frame(6, 0, 0, b"12345678")),
    "settings": (ANSWER, frame(4, 0, 0, b"\0\4\0\0\xff\xff")),
    "continuations": (frame(4, 0, 0) + frame(1, 0, 1, b"\x88"), frame(9, 0, 1, b"\x00\x01a\x01b" * 100)),
    "tickets": (b"HTTP/1.1 200 OK\r\nX: ", b""),
}
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate)
if kind == "tickets":
    context.num_tickets = 1_000_000
else:
    context.set_alpn_protocols(["h2"])


def serve(peer):
    try:
        peer = context.wrap_socket(peer, server_side=True)
        begin, again = KINDS[kind]
        peer.sendall(begin)
        while again:
            peer.sendall(again * 1000)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
