/** The shared worker: holds the one event stream of all tabs. Browsers allow six connections. */

import { FanOut } from "./live/fan_out.js";

const tabs = new FanOut();

self.addEventListener("connect", ({ ports: [port] }) => {
  port.onmessage = ({ data }) => tabs.take(port, data);
  // Where the browser tells that a tab is gone; elsewhere it said so itself.
  port.onclose = () => tabs.take(port, { bye: true });
});
