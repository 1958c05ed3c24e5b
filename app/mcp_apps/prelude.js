(() => {
  "use strict";
  // Runs before the view's own document, in its realm. What is used later is captured now: the
  // document may patch any prototype, by design (zone.js) or to see what happens.
  const self = window;
  const realParent = self.parent;
  const apply = Reflect.apply;
  const define = Object.defineProperty;
  const clone = self.structuredClone;
  const getter = (owner, name) => Object.getOwnPropertyDescriptor(owner.prototype, name).get;
  const read = (get, target) => apply(get, target, []);
  const { addEventListener, dispatchEvent } = EventTarget.prototype;
  const { stopImmediatePropagation, preventDefault, composedPath } = Event.prototype;
  const isPrevented = getter(Event, "defaultPrevented");
  const NativeMessageEvent = MessageEvent;
  const eventData = getter(MessageEvent, "data");
  const eventSource = getter(MessageEvent, "source");
  const eventOrigin = getter(MessageEvent, "origin");
  const eventPorts = getter(MessageEvent, "ports");
  const portPost = MessagePort.prototype.postMessage;
  const portListen = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage").set;
  const AnchorElement = HTMLAnchorElement;
  const anchorHref = getter(AnchorElement, "href");
  const PageUrl = URL;
  const text = String;

  const listen = (type, listener, capture) =>
    apply(addEventListener, self, [type, listener, capture]);
  const optional = (owner, name, descriptor) => {
    try {
      define(owner, name, descriptor);
    } catch {
      // A browser that locks the property keeps its own; the view then sees what it would anyway.
    }
  };

  let port = null;
  let hostOrigin = "null";
  let waiting = [];
  let delivering = null;
  let reports = 100;

  const send = (message) => {
    if (port !== null) {
      apply(portPost, port, [message]);
    } else if (waiting.length < 1000) {
      // postMessage takes its copy when it is called, and throws on what cannot be copied.
      waiting[waiting.length] = clone(message);
    }
  };
  const report = (message) => {
    if (reports > 0) {
      reports -= 1;
      send(message);
    }
  };

  // --- the port, which looks like window.parent --------------------------------------------
  const standIn = Object.freeze({ postMessage: (message) => send({ rpc: message }) });

  const receive = (event) => {
    const message = read(eventData, event);
    if (message.vitrine === "ping") {
      send({ vitrine: "pong", n: message.n });
      return;
    }
    const copy = new NativeMessageEvent("message", { data: message.rpc, origin: hostOrigin });
    define(copy, "source", { value: standIn });
    delivering = copy;
    apply(dispatchEvent, self, [copy]);
    delivering = null;
  };

  const isOwn = (source) => {
    // The view itself or a frame inside it. Anything else that can reach this window is a
    // stranger: a sibling view, through window.top.
    let at = source;
    for (let depth = 0; depth < 10 && at; depth += 1) {
      if (at === self) return true;
      if (at === at.parent) return false;
      at = at.parent;
    }
    return false;
  };

  const onWindowMessage = (event) => {
    if (event === delivering || !event.isTrusted) return;
    const source = read(eventSource, event);
    if (source === realParent) {
      const data = read(eventData, event);
      const ports = read(eventPorts, event);
      if (port === null && data && data.vitrine === "port" && data.nonce === NONCE && ports[0]) {
        port = ports[0];
        hostOrigin = read(eventOrigin, event);
        apply(portListen, port, [receive]);
        send({ vitrine: "open" });
        for (let i = 0; i < waiting.length; i += 1) apply(portPost, port, [waiting[i]]);
        waiting = [];
      }
    } else if (isOwn(source)) {
      return;
    }
    apply(stopImmediatePropagation, event, []);
  };

  if (realParent !== self) {
    // Replaceable as the native one is: a top-level `const parent` must stay legal.
    optional(self, "parent", {
      value: standIn, writable: true, enumerable: true, configurable: true,
    });
    listen("message", onWindowMessage, true);
    realParent.postMessage({ vitrine: "hello", nonce: NONCE }, "*");
  }

  // --- what the host should know --------------------------------------------------------------
  listen("securitypolicyviolation", (event) => {
    report({
      vitrine: "violation",
      directive: text(event.effectiveDirective),
      blocked: text(event.blockedURI),
      source: text(event.sourceFile || ""),
      line: event.lineNumber,
    });
  }, true);
  listen("error", (event) => {
    if (event.message) report({ vitrine: "error", message: text(event.message) });
  }, false);
  listen("unhandledrejection", (event) => {
    let message = "a promise was rejected";
    try {
      message = text((event.reason && event.reason.message) || event.reason);
    } catch {
      // A reason that cannot be turned into text: the plain sentence stays.
    }
    report({ vitrine: "error", message });
  }, false);
  // A press in this frame: the browser's own mark of activation counts one on the host page too,
  // and a view must not get the screen because a person pressed "Cancel" there.
  const gesture = (event) => {
    if (event.isTrusted) send({ vitrine: "gesture" });
  };
  listen("pointerdown", gesture, true);
  listen("pointerup", gesture, true);
  listen("keydown", (event) => {
    // The host cannot see keys pressed in the frame, and Escape must always leave fullscreen.
    if (event.isTrusted && event.key === "Escape") send({ vitrine: "escape" });
    else gesture(event);
  }, true);
  listen("click", (event) => {
    // A plain link would navigate the frame, which the host page blocks and answers by closing
    // the view. The person meant to follow it: let the host ask.
    if (!event.isTrusted || event.button !== 0 || read(isPrevented, event)) return;
    const path = apply(composedPath, event, []);
    for (let i = 0; i < path.length; i += 1) {
      if (!(path[i] instanceof AnchorElement)) continue;
      const href = read(anchorHref, path[i]);
      let url = null;
      try {
        url = new PageUrl(href);
      } catch {
        return;
      }
      const here = new PageUrl(self.location.href);
      if (url.protocol !== "http:" && url.protocol !== "https:") return;
      if (url.origin === here.origin) {
        if (url.pathname === here.pathname && url.search === here.search) return;
        apply(preventDefault, event, []);
        report({ vitrine: "error", message: `a link inside the view's own address leads nowhere: ${href}` });
        return;
      }
      apply(preventDefault, event, []);
      report({ vitrine: "link", url: href });
      return;
    }
  }, false);

  // --- what an opaque origin lacks ------------------------------------------------------------
  const StorageType = self.Storage;
  const memory = () => {
    const items = new Map();
    const methods = {
      __proto__: null,
      getItem: (key) => items.get(text(key)) ?? null,
      setItem: (key, value) => void items.set(text(key), text(value)),
      removeItem: (key) => void items.delete(text(key)),
      clear: () => items.clear(),
      key: (index) => [...items.keys()][index] ?? null,
    };
    return new Proxy(Object.create(StorageType.prototype), {
      get: (target, key) => {
        if (key === "length") return items.size;
        if (key in methods) return methods[key];
        return typeof key === "string" && items.has(key) ? items.get(key) : Reflect.get(target, key);
      },
      set: (_target, key, value) => {
        methods.setItem(key, value);
        return true;
      },
      has: (target, key) => items.has(key) || key === "length" || key in target,
      deleteProperty: (_target, key) => {
        items.delete(key);
        return true;
      },
      defineProperty: (_target, key, descriptor) => {
        methods.setItem(key, descriptor.value);
        return true;
      },
      ownKeys: () => [...items.keys()],
      getOwnPropertyDescriptor: (_target, key) =>
        items.has(key)
          ? { value: items.get(key), writable: true, enumerable: true, configurable: true }
          : undefined,
    });
  };
  for (const name of ["localStorage", "sessionStorage"]) {
    optional(self, name, { value: memory(), enumerable: true, configurable: true });
  }

  const cookies = new Map();
  const ended = /;\s*max-age=(?:0|-\d+)\s*(?:;|$)/i;
  const expires = /;\s*expires=([^;]+)/i;
  optional(document, "cookie", {
    configurable: true,
    enumerable: true,
    get: () => [...cookies].map(([name, value]) => (name ? `${name}=${value}` : value)).join("; "),
    set: (line) => {
      const all = text(line);
      const [pair] = all.split(";", 1);
      const cut = pair.indexOf("=");
      const name = pair.slice(0, Math.max(cut, 0)).trim();
      const past = expires.exec(all);
      if (ended.test(all) || (past && Date.parse(past[1]) < Date.now())) cookies.delete(name);
      else cookies.set(name, pair.slice(cut + 1).trim());
    },
  });

  // WebRTC ignores every CSP directive, so data could leave by it.
  for (const name of Object.getOwnPropertyNames(self)) {
    if (/^(?:webkit)?RTC/.test(name)) delete self[name];
  }

  document.currentScript.remove();
})();
