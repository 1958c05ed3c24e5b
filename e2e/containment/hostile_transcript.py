"""A Claude Code transcript in which every field that is shown tries to break out of the page."""

import json
from pathlib import Path
from typing import Any

SESSION = "00000000-0000-4000-8000-0000000000ee"
TOOL = 'mcp__<img src=x onerror=pwned()>__"><svg onload=pwned()>'
INVISIBLE = "\u202egnp.exe\u2066\u200b\U000e0041\U000e007f"
ANSI = (
    "\x1b[31mred\x1b[0m\x1b]8;;javascript:pwned()\x07link\x1b]8;;\x07\x1b]0;pwned\x07\x1b[2J\x9b31m"
)


def markup(url: str) -> str:
    """``url`` is a listener's; whatever asks it for something has been let out."""
    return f"""<script>pwned()</script><script src="{url}/script"></script>
<img src="{url}/img" onerror="pwned()"><img src=x onerror=pwned()><svg onload="pwned()"></svg>
<svg><a xlink:href="javascript:pwned()"><text>x</text></a><image href="{url}/svg"/></svg>
<iframe srcdoc="<script>parent.pwned()</script>"></iframe><iframe src="{url}/frame"></iframe>
<meta http-equiv="refresh" content="0;url={url}/refresh"><base href="{url}/">
<link rel="stylesheet" href="{url}/sheet"><style>@import "{url}/import"; body {{ display: none }}
</style><form action="{url}/form"><input name="pwned" autofocus onfocus="pwned()"></form>
<b hx-get="{url}/hx" hx-trigger="load" hx-on:click="pwned()" data-hx-post="/sign-out"
 data-hx-trigger="load">b</b><a id="pwned" name="getElementById" href="javascript:pwned()">x</a>
<video src="{url}/video" autoplay></video><object data="{url}/object"></object>
<math><mtext></table><mglyph><style><img src=x onerror=pwned()></style></mglyph></mtext></math>
<details open ontoggle="pwned()">x</details></textarea></script></pre></title>"><i onclick=pwned()>
</template><div data-panel data-fragment-url="{url}/fragment"><script data-panel-data>{{}}</script>
</div>
<div class="panel-slot" hx-get="{url}/slot" hx-trigger="load">x</div>

[a](javascript:pwned()) [b](JaVa&#x0A;script:pwned()) [c](data:text/html,<script>pwned()</script>)
[d](vbscript:pwned()) [e](<java\tscript:pwned()>) ![i]({url}/markdown) ![j][r]
<javascript:pwned()> [f]({url}/link "x\\" onclick=pwned() y=\\"")

[r]: {url}/reference
"""


def lines(url: str) -> list[dict[str, Any]]:
    evil = markup(url)
    short = f"<script>pwned()</script><img src={url}/short onerror=pwned()>{INVISIBLE}{ANSI}"
    use = [
        ("toolu_1", TOOL, {f"<b onclick=pwned()>{short}": evil, "list": [short, {"<i>": short}]}),
        ("toolu_2", "Bash", {"command": short, "description": evil}),
        ("toolu_3", "Read", {"file_path": f"../../{short}/\x00etc/passwd"}),
        ("toolu_4", "Write", {"file_path": f"/{short}.md", "content": evil}),
        ("toolu_5", f"<script>pwned()</script>{INVISIBLE}", {}),
        ('toolu_6/../../"><script>pwned()</script>', "mcp__a__b", {"x": short}),
        ("toolu_7", "Task", {"subagent_type": short, "description": short, "prompt": evil}),
    ]
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' onload='pwned()'><image href='{url}/i'/></svg>"
    picture = {"type": "base64", "media_type": "image/svg+xml", "data": svg.encode().hex()}
    linked = {"type": "url", "url": f"{url}/picture", "media_type": f'"><script>{short}'}
    results: list[Any] = [
        [{"type": "text", "text": evil}, {"type": "image", "source": picture}],
        f"{ANSI}{evil}{ANSI}",
        [{"type": "image", "source": linked}, {"type": short, "text": evil}],
        {"stdout": ANSI + evil, "stderr": short},
        evil,
        [{"type": "resource_link", "uri": "javascript:pwned()", "name": short}],
        [{"type": "text", "text": evil}],
    ]
    made: list[dict[str, Any]] = [
        {"type": "summary", "summary": short, "leafUuid": "x"},
        {"type": "custom-title", "customTitle": short, "sessionId": SESSION},
        _line("user", evil),
        _line("assistant", [{"type": "thinking", "thinking": evil, "signature": short}]),
        _line("assistant", [{"type": "text", "text": evil}]),
        _line("system", evil, subtype=short),
    ]
    for (call_id, name, arguments), result in zip(use, results, strict=True):
        asked = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        made.append(_line("assistant", [asked]))
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": result}
        made.append(_line("user", [answer], toolUseResult=result))
    made += [
        _line("user", [{"type": "image", "source": picture}, {"type": "text", "text": short}]),
        _line("assistant", [{"type": "text", "text": "The needle is found."}]),
    ]
    for number, line in enumerate(made):
        line["uuid"] = f"00000000-0000-4000-8000-{number:012d}"
        line.setdefault("cwd", f"/home/{short}")
        line.setdefault("gitBranch", short)
        line.setdefault("version", f"2.1.332{short}")
        if isinstance(line.get("message"), dict):
            line["message"].setdefault("model", short)
    return made


def _line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "sessionId": SESSION,
        "timestamp": "2026-11-30T20:00:00.000Z",
        "message": {"role": kind, "content": content},
        **more,
    }


def write(folder: Path, url: str) -> Path:
    """In a folder and file that are named as badly as a file system allows, with lines that are
    none among the others.
    """
    path = folder / "projects" / "<img src=x onerror=pwned()>" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    whole = [json.dumps(line).encode() for line in lines(url)]
    deep = b'{"a":' * 5000 + b"1" + b"}" * 5000
    twice = b'{"type":"user","type":"<script>pwned()</script>","message":1,"message":{"content":2}}'
    broken = [b"\xff\xfe<script>pwned()</script>", deep, twice, b"[]", b'"<script>"']
    path.write_bytes(b"\n".join([*whole, *broken, b'{"type":"user","message":{"con']))
    return path
