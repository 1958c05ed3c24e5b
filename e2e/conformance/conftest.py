"""The official ``App`` class of both generations, in a page of its own under the real broker."""

import json
from typing import Any

import pytest
from playwright.sync_api import Frame

from e2e.broker.conftest import host, site
from e2e.broker.site import Site
from e2e.servers import install

__all__ = ["host", "site"]

# Names of the packages in e2e/package.json.
VERSIONS = {"2.0.4": "@modelcontextprotocol/ext-apps", "1.7.5": "ext-apps-1"}

_VIEW = """
<!doctype html><meta charset="utf-8"><button id="press">press</button>
<p>A view made with the official class.</p><script type="module">
const source = SOURCE;
const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
const {App} = await import(url);
const seen = window.seen = [];
window.make = (capabilities = {}, options = {}) => {
  const app = window.app = new App({name: "official", version: "1"}, capabilities, options);
  app.ontoolinput = (params) => seen.push(["input", params]);
  app.ontoolinputpartial = (params) => seen.push(["partial", params]);
  app.ontoolresult = (params) => seen.push(["result", params]);
  app.ontoolcancelled = (params) => seen.push(["cancelled", params]);
  app.onhostcontextchanged = (params) => seen.push(["context", params]);
  app.onerror = (error) => seen.push(["error", String(error)]);
  app.fallbackNotificationHandler = async ({method, params}) => { seen.push([method, params]); };
  app.onteardown = async () => {
    await app.sendLog({level: "info", data: "torn down"});
    return {};
  };
  return app;
};
document.getElementById("press").onclick = async () => {
  window.mode = (await app.requestDisplayMode({mode: "fullscreen"})).mode;
};
START
</script>
"""


class Official:
    """The documents of views built with one version of the official package."""

    def __init__(self, version: str) -> None:
        self.version = version
        folder = install() / VERSIONS[version]
        found = json.loads((folder / "package.json").read_text())["version"]
        assert found == version
        bundle = (folder / "dist" / "src" / "app-with-deps.js").read_text()
        self._source = json.dumps(bundle).replace("<", "\\u003c")

    def view(self, start: str = "await make().connect();") -> str:
        """A view that does ``start`` once the class is there."""
        return _VIEW.replace("START", start).replace("SOURCE", self._source)


@pytest.fixture(scope="module", params=sorted(VERSIONS))
def official(request: pytest.FixtureRequest) -> Official:
    return Official(request.param)


def tried(frame: Frame, call: str) -> Any:
    """What ``app.CALL`` resolves with, or the text of its error."""
    return frame.evaluate(
        f"async () => {{ try {{ return await app.{call} }} "
        "catch (error) { return String(error) } }"
    )


def raw(frame: Frame, method: str) -> Any:
    """The whole answer to a request that the class has no word for."""
    return frame.evaluate(
        """(method) => new Promise((done) => {
          addEventListener("message", ({data}) => { if (data.id === method) done(data); });
          parent.postMessage({jsonrpc: "2.0", id: method, method}, "*"); })""",
        method,
    )


def with_rpc(site: Site, answer: Any, status: int = 200) -> None:
    """Every request to the MCP server gets this answer."""
    site.rpc = lambda _body: (status, answer)
