"""Files that a view hands over: asked for, named harmlessly, saved by a person's click alone."""

import base64
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Download, Locator, expect

from e2e.broker.conftest import Host


def embedded(uri: Any, **resource: Any) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, **resource}}


def start(host: Host, contents: Any) -> Locator:
    """Ask for it; the host's question."""
    host.frame().evaluate(
        "contents => { window.saved = ask('ui/download-file', {contents}) }", contents
    )
    return host.page.get_by_role("dialog")


def test_a_person_sees_names_types_and_sizes_and_saves(host: Host, tmp_path: Path) -> None:
    frame = host.open()
    raw = bytes(range(256)) * 8
    dialog = start(
        host,
        [
            embedded("file:///reports/Größe.csv", mimeType="text/csv", text="ä,b\n1,2\n"),
            embedded("ui://x/raw", mimeType="image/png", blob=base64.b64encode(raw).decode()),
        ],
    )
    expect(dialog).to_contain_text("weather/forecast asks to save 2 files")
    expect(dialog.get_by_role("listitem")).to_have_text(
        ["Größe.csv text/csv, 9 B", "raw.png image/png, 2 KB"]
    )
    got: list[Download] = []
    host.page.on("download", lambda item: got.append(item))
    dialog.get_by_role("button", name="Save files").click()
    assert frame.evaluate("saved")["result"] == {}
    host.wait(lambda: len(got) >= 2)
    assert sorted(item.suggested_filename for item in got) == ["Größe.csv", "raw.png"]
    host.wait(lambda: len(host.site.posted("/seen")) >= 1)
    # Nothing of a file's name or content.
    assert host.site.posted("/seen") == [
        {"kind": "download", "answer": "confirmed", "sizes": [9, 2048]}
    ]
    contents = {item.suggested_filename: Path(item.path()).read_bytes() for item in got}
    assert contents == {"Größe.csv": "ä,b\n1,2\n".encode(), "raw.png": raw}
    assert host.page.url == f"{host.site.url}/"  # nothing went anywhere


def test_what_is_saved_never_has_the_views_own_type(host: Host) -> None:
    """A browser that shows a file instead of saving it would run it in Vitrine's name."""
    host.page.add_init_script(
        "const make = URL.createObjectURL; window.types = [];"
        "URL.createObjectURL = (blob) => { types.push(blob.type); return make.call(URL, blob); };"
    )
    frame = host.open()
    dialog = start(
        host, [embedded("a.html", mimeType="text/html", text="<script>alert(1)</script>")]
    )
    with host.page.expect_download():
        dialog.get_by_role("button", name="Save file").click()
    frame.evaluate("saved")
    assert host.page.evaluate("types") == ["application/octet-stream"]


def test_a_refusal_is_a_result_with_is_error(host: Host) -> None:
    frame = host.open()
    dialog = start(host, [embedded("a.txt", text="x")])
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    host.page.keyboard.press("Escape")
    assert frame.evaluate("saved")["result"] == {"isError": True}


LINK = {"type": "resource_link", "uri": "https://a.example/x.pdf", "name": "x"}


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (None, "names no file"),
        ([], "names no file"),
        ("a.txt", "names no file"),
        ([LINK], "must be embedded"),
        ([embedded("a.txt", text="x"), LINK], "must be embedded"),
        ([embedded("a.txt")], "must be embedded"),
        ([embedded("a.txt", text=5)], "must be embedded"),
        ([embedded("a.txt", blob="*not base64*")], "must be embedded"),
        ([embedded("a.txt", blob="abcde")], "must be embedded"),
        ([{"type": "text", "text": "x"}], "must be embedded"),
        ([None], "must be embedded"),
        ([embedded(f"{n}.txt", text="x") for n in range(21)], "more than 20 files"),
    ],
)
def test_what_is_no_embedded_file_is_refused_unasked(host: Host, contents: Any, why: str) -> None:
    host.open()
    assert host.ask("ui/download-file", {"contents": contents})["result"] == {"isError": True}
    expect(host.page.get_by_role("dialog")).to_have_count(0)
    expect(host.log()).to_contain_text("ui/download-file was refused: ")
    expect(host.log()).to_contain_text(why)


def test_a_file_may_be_larger_than_a_message_and_has_a_cap(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "() => { window.saved = ask('ui/download-file', {contents: [{type: 'resource',"
        " resource: {uri: 'big.bin', blob: 'A'.repeat(12_000_000)}}]}) }"
    )
    dialog = host.page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_text("big.bin 8.6 MB")
    with host.page.expect_download() as download:
        dialog.get_by_role("button", name="Save file").click()
    assert download.value.path().stat().st_size == 9_000_000
    answer = frame.evaluate(
        "ask('ui/download-file', {contents: [{type: 'resource',"
        " resource: {uri: 'big.bin', blob: 'A'.repeat(46_000_000)}}]})"
    )
    assert answer["result"] == {"isError": True}
    expect(host.log()).to_contain_text("larger than 32 MB")
    answer = frame.evaluate(
        "ask('ui/download-file', {contents: [{type: 'resource',"
        " resource: {uri: 'big.bin', text: 'A'.repeat(49_000_000)}}]})"
    )
    assert answer["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("uri", "mime", "name"),
    [
        ("file:///a/b/report.pdf", "application/pdf", "report.pdf"),
        ("ui://server/report.pdf?x=1#page", "", "report.pdf"),
        ("report", "application/pdf", "report.pdf"),
        ("v1.2", "application/pdf", "v1.2.pdf"),
        ("archive.tar.gz", "text/plain", "archive.tar.gz"),
        ("../../etc/passwd", "", "passwd"),
        ("a/..%2f..%2fevil.sh", "", "evil.sh"),
        ("C:\\Users\\me\\x.txt", "", "x.txt"),
        ("..", "", "download"),
        (".bashrc", "", "bashrc"),
        ("a/b/", "", "b"),
        ("", "text/html", "download.html"),
        (None, "text/plain", "download.txt"),
        (7, "", "download"),
        ("ui://", "", "download"),
        ("invoice\u202efdp.exe", "", "invoicefdp.exe"),
        ("a\r\nb\x00c.txt", "", "abc.txt"),
        ("a%0d%0ab.txt", "", "ab.txt"),
        ("a%ZZ.txt", "", "a%ZZ.txt"),
        ('a<b>c:"d|e*f.txt', "", "a_b_c__d_e_f.txt"),
        ("CON", "", "_CON"),
        ("nul.txt", "", "_nul.txt"),
        ("name. . .", "", "name"),
        ("x" * 300 + ".csv", "", "x" * 116 + ".csv"),
        ("x", "__proto__", "x"),
        ("x", "constructor", "x"),
    ],
)
def test_names_are_made_harmless(host: Host, uri: Any, mime: str, name: str) -> None:
    host.page.goto(host.site.url)
    given = host.page.evaluate(
        "([uri, type]) => import('/static/js/broker/files.js').then(m => m.fileName(uri, type))",
        [uri, mime],
    )
    assert given == name


def test_two_files_of_one_name_stay_two(host: Host) -> None:
    host.open()
    dialog = start(host, [embedded(uri, text="x") for uri in ("a.txt", "b/A.TXT", "c/a.txt")])
    expect(dialog.get_by_role("listitem")).to_have_text(
        ["a.txt 1 B", "A (2).TXT 1 B", "a (3).txt 1 B"]
    )


def test_many_large_files_are_a_flood(host: Host) -> None:
    frame = host.open()
    frame.evaluate(
        "() => { const resource = {uri: 'x', blob: 'A'.repeat(1_100_000)};"
        # Later: the view may be gone before all of them are sent.
        " setTimeout(() => { for (let i = 0; i < 100; i += 1)"
        " void ask('ui/download-file', {contents: [{type: 'resource', resource}]}); }, 0); }"
    )
    expect(host.notice()).to_contain_text("sent too many messages and was stopped")
