"""A film, made by the browser itself, so that it can surely play it."""

import base64

from playwright.sync_api import Browser

# A second of film: a square that changes its colour.
_FILMING = """() => new Promise((resolve) => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 64, height: 64 });
    const drawing = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(10), { mimeType: "video/webm" });
    const parts = [];
    recorder.ondataavailable = ({ data }) => parts.push(data);
    recorder.onstop = async () => {
        const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
        resolve(btoa(String.fromCharCode(...bytes)));
    };
    recorder.start();
    let shown = 0;
    const timer = setInterval(() => {
        drawing.fillStyle = `hsl(${shown * 36} 90% 50%)`;
        drawing.fillRect(0, 0, 64, 64);
        shown += 1;
        if (shown === 10) { clearInterval(timer); recorder.stop(); }
    }, 100);
})"""


def film(browser: Browser) -> bytes:
    page = browser.new_page()
    made: str = page.evaluate(_FILMING)
    page.close()
    return base64.b64decode(made)
