"""One way out, and the document that tries it."""

from dataclasses import dataclass

# Answers what a host asks, says that it is up, then makes its attempt. Nobody may be there to
# answer: the attempt is made all the same.
_HARNESS = """<script>(() => {
  const say = (message) => parent.postMessage({jsonrpc: "2.0", ...message}, "*");
  let tried = false;
  const attempt = async () => {
    if (tried) return;
    tried = true;
    await (async () => { $SCRIPT })();
  };
  const quietly = () => attempt().catch((error) => { window.failed = String(error); });
  addEventListener("message", ({data}) => {
    if (data?.id === 1 && !data.method) {
      say({method: "ui/notifications/initialized"});
      setTimeout(quietly, 100);
    } else if (data?.method && data.id !== undefined) say({id: data.id, result: {}});
  });
  say({id: 1, method: "ui/initialize", params: {appInfo: {name: "way", version: "1"},
    appCapabilities: {}, protocolVersion: "2026-01-26"}});
  setTimeout(quietly, 4000);
})();</script>
"""


@dataclass(frozen=True)
class Way:
    """``html`` and ``script`` hold ``$URL`` (with a secret in it), ``$HOST`` and ``$PORT`` of the
    listener. ``alone``: where nothing stops it, it takes the whole tab. ``deadly``: under Vitrine
    it costs the process its life, in which other views live too. ``pressed``: a person presses into
    the view. ``mute``: why no listener ever hears it, even with no protection at all; such a way
    counts for nothing.
    """

    name: str
    html: str = ""
    script: str = ""
    alone: bool = False
    deadly: bool = False
    pressed: bool = False
    mute: str = ""

    def document(self, port: int) -> str:
        # The harness first: a frameset or an unclosed element must not swallow it.
        whole = "<meta charset=utf-8>" + _HARNESS.replace("$SCRIPT", self.script) + self.html
        host = f"127.0.0.1:{port}"
        url = f"http://{host}/{self.name}?secret=hunter2"
        return whole.replace("$URL", url).replace("$HOST", host).replace("$PORT", str(port))
