"""The prelude in a real document: what it gives, what it takes, and that views cannot tell."""

import pytest
from playwright.sync_api import expect

from e2e.broker.conftest import Host
from e2e.broker.site import NOT_STARTED, STARTED


def test_standards_mode_and_the_documents_own_head_are_kept(host: Host) -> None:
    frame = host.open(
        '<!DOCTYPE html><html lang="de" class="own"><head><meta charset="utf-8">'
        "<title>Größe</title></head><body data-own>" + STARTED + "</body></html>"
    )
    assert frame.evaluate("document.compatMode") == "CSS1Compat"
    assert frame.evaluate("document.title") == "Größe"
    assert frame.evaluate("document.documentElement.lang") == "de"
    assert frame.evaluate("document.documentElement.className") == "own"
    assert frame.evaluate("document.body.dataset.own") == ""
    assert frame.evaluate("document.querySelectorAll('script').length") == 1
    nonce = host.panel().get_attribute("data-nonce")
    assert nonce
    assert nonce not in frame.content()


@pytest.mark.parametrize("name", ["localStorage", "sessionStorage"])
def test_storage_stands_in(host: Host, name: str) -> None:
    frame = host.open()
    assert frame.evaluate(
        f"""() => {{
          const s = {name};
          const out = [s.length, s.getItem("a"), s.a, s instanceof Storage];
          s.setItem("a", 1); s.b = 2; s["getItem2"] = "x";
          out.push(s.length, s.getItem("a"), s.a, s.getItem("b"), Object.keys(s),
            s.key(1), s.key(9), "a" in s, "z" in s, JSON.stringify(s));
          delete s.b; s.removeItem("a");
          out.push(s.length, s.b ?? null);
          s.clear();
          out.push(s.length, typeof s.getItem);
          return out;
        }}"""
    ) == [
        0,
        None,
        None,
        True,
        3,
        "1",
        "1",
        "2",
        ["a", "b", "getItem2"],
        "b",
        None,
        True,
        False,
        '{"a":"1","b":"2","getItem2":"x"}',
        1,
        None,
        0,
        "function",
    ]


def test_cookies_stand_in(host: Host) -> None:
    frame = host.open()
    assert (
        frame.evaluate(
            """() => {
          document.cookie = "a=1; path=/; secure";
          document.cookie = "b = two=2 ";
          document.cookie = "c=3";
          document.cookie = "c=; max-age=0";
          document.cookie = "a=9; expires=Thu, 01 Jan 2099 00:00:00 GMT";
          document.cookie = "b=; expires=Thu, 01 Jan 1970 00:00:00 GMT";
          document.cookie = "d=4";
          return document.cookie;
        }"""
        )
        == "a=9; d=4"
    )


def test_webrtc_is_gone(host: Host) -> None:
    frame = host.open()
    assert frame.evaluate("Object.getOwnPropertyNames(window).filter(n => /RTC/.test(n))") == []
    assert frame.evaluate("typeof RTCPeerConnection") == "undefined"


def test_the_parent_is_a_frozen_stand_in(host: Host) -> None:
    frame = host.open()
    assert frame.evaluate("window.parent.__v_isRef === undefined")  # what Vue asks of everything
    assert frame.evaluate("Object.isFrozen(window.parent)")
    assert frame.evaluate("Object.keys(window.parent)") == ["postMessage"]
    assert frame.evaluate("window.parent !== window && window.parent !== window.top")


def test_names_that_native_windows_leave_free_stay_free(host: Host) -> None:
    frame = host.open(
        STARTED + "<script>const localStorage = 1; let parent = 2; window.free = parent;</script>"
    )
    assert frame.evaluate("free") == 2


def test_messages_look_as_if_the_parent_sent_them(host: Host) -> None:
    frame = host.open(
        NOT_STARTED
        + "<script>addEventListener('message', (event) => { window.seen = [event.origin,"
        " event.source === parent, event instanceof MessageEvent, event.type]; });"
        "onmessage = () => { window.handler = true; }; start();</script>"
    )
    assert frame.evaluate("seen") == [host.site.url, True, True, "message"]
    assert frame.evaluate("handler")


def test_uncloneable_messages_throw_at_once_as_the_native_one_does(host: Host) -> None:
    early = NOT_STARTED + (
        "<script>try { parent.postMessage(() => 1, '*') } catch (e) { window.early = e.name }"
        "start();</script>"
    )
    frame = host.open(early)
    assert frame.evaluate("early") == "DataCloneError"
    late = "() => { try { parent.postMessage(() => 1, '*') } catch (e) { return e.name } }"
    assert frame.evaluate(late) == "DataCloneError"


def test_a_document_that_patches_everything_still_talks(host: Host) -> None:
    """By design, as zone.js does, or out of malice: it is cut off from nothing but itself."""
    hostile = (
        "<script>const no = () => { throw new Error('patched'); };"
        "window.keep = {listen: EventTarget.prototype.addEventListener};"
        "EventTarget.prototype.dispatchEvent = no; EventTarget.prototype.removeEventListener = no;"
        "MessagePort.prototype.postMessage = no; MessagePort.prototype.start = no;"
        "Object.defineProperty(MessagePort.prototype, 'onmessage', {set: no});"
        "Object.defineProperty(MessageEvent.prototype, 'data', {get() { return window.leak; },"
        " configurable: true});"
        "window.MessageEvent = no; window.structuredClone = no; Reflect.apply = no;"
        "Object.defineProperty = no; Event.prototype.stopImmediatePropagation = no;"
        "Array.prototype.push = no; Array.prototype[Symbol.iterator] = no;"
        "Object.getOwnPropertyDescriptor = no; Object.freeze = no;"
        "const got = []; let count = 0;"
        "keep.listen.call(window, 'message', (event) => { count += 1; }, true);"
        "parent.postMessage({jsonrpc: '2.0', id: 1, method: 'ui/initialize', params: {}}, '*');"
        "parent.postMessage({jsonrpc: '2.0', method: 'ui/notifications/initialized'}, '*');"
        "window.counted = () => count;</script>"
    )
    host.open(hostile)  # waits until it is ready
    host.panel().locator("[data-panel-fullscreen]").click()
    expect(host.panel()).to_have_class("panel is-fullscreen")


def test_violations_are_told_with_what_was_blocked(host: Host) -> None:
    host.open(STARTED + "<img src='https://cdn.example/a.png'>")
    expect(host.log()).to_contain_text("img-src blocked https://cdn.example/a.png")


def test_an_unframed_document_has_no_port_and_no_parent(host: Host) -> None:
    host.open()
    host.site.tickets["direct"] = (0, "n" * 22)
    host.page.goto(host.site.url + "/fragments/direct")
    assert host.page.evaluate("self.origin") == "null"
    assert host.page.evaluate("window.parent === window")
    assert host.page.evaluate("localStorage.length") == 0
