"""The twenty official servers with a view: how each is started and which call the agent made."""

from dataclasses import dataclass, field
from typing import Any

CLAUDE_CODE = "claude-code"
CODEX = "codex"
AGENTS = (CLAUDE_CODE, CODEX)
NAMES = {CLAUDE_CODE: "Claude Code", CODEX: "Codex"}

# Red, with a buffer of its own so that it takes two passes.
SHADER = {
    "fragmentShader": "void mainImage(out vec4 c, in vec2 p) "
    "{ c = vec4(texture(iChannel0, p / iResolution.xy).r, 0.0, 0.0, 1.0); }",
    "bufferA": "void mainImage(out vec4 c, in vec2 p) { c = vec4(0.8, 0.0, 0.0, 1.0); }",
}
# Long enough that its end does not come before somebody has looked at the clock.
BARS = 12
TUNE = (
    "X:1\nT:Up and down\nM:4/4\nL:1/4\nQ:1/4=60\nK:C\n" + "C D E F | " * (BARS - 1) + "C D E F |]\n"
)
ARTICLE = "https://en.wikipedia.org/wiki/Display_case"
SCENE = (
    "const scene = new THREE.Scene();"
    "const camera = new THREE.PerspectiveCamera(60, width / height, 0.1, 100);"
    "const renderer = new THREE.WebGLRenderer({ canvas }); renderer.render(scene, camera);"
)


@dataclass(frozen=True)
class Official:
    """``full`` is the agent under whose session everything in the view is tried; under the other
    one it is seen to start and to take one press.
    """

    name: str
    tool: str
    full: str
    arguments: dict[str, Any] = field(default_factory=dict)
    version: str = "2.0.3"


_ALL = (
    Official("basic-vanillajs", "get-time", CLAUDE_CODE),
    Official("basic-react", "get-time", CODEX),
    Official("basic-preact", "get-time", CLAUDE_CODE),
    Official("basic-svelte", "get-time", CODEX),
    Official("basic-solid", "get-time", CLAUDE_CODE),
    Official("basic-vue", "get-time", CODEX),
    Official("budget-allocator", "get-budget-data", CLAUDE_CODE),
    Official(
        "cohort-heatmap",
        "get-cohort-data",
        CODEX,
        {"metric": "retention", "periodType": "monthly", "cohortCount": 6, "maxPeriods": 6},
    ),
    Official("customer-segmentation", "get-customer-data", CLAUDE_CODE),
    Official("scenario-modeler", "get-scenario-data", CODEX),
    Official("shadertoy", "render-shadertoy", CLAUDE_CODE, SHADER),
    Official("sheet-music", "play-sheet-music", CODEX, {"abcNotation": TUNE}),
    Official("system-monitor", "get-system-info", CLAUDE_CODE),
    Official("video-resource", "play_video", CODEX, {"videoId": "bunny-1mb"}),
    Official("wiki-explorer", "get-first-degree-links", CLAUDE_CODE, {"url": ARTICLE}),
    Official("pdf", "display_pdf", CODEX, version="2.0.4"),
    Official("debug", "debug-tool", CLAUDE_CODE, {"contentType": "mixed", "includeMeta": True}),
    Official("threejs", "show_threejs_scene", CODEX, {"code": SCENE}),
    Official(
        "map",
        "show-map",
        CLAUDE_CODE,
        {"west": 7.3, "south": 46.8, "east": 7.6, "north": 47.0, "label": "Bern"},
    ),
    Official("transcript", "transcribe", CODEX),
)
OFFICIAL = {official.name: official for official in _ALL}


def other(agent: str) -> str:
    [found] = [name for name in AGENTS if name != agent]
    return found
