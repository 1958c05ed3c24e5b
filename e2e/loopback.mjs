// A preload (node --import) that keeps a server on 127.0.0.1.
// The official example servers listen on every address, which a test must not do.
import net from "node:net";

const HOST = "127.0.0.1";
const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  const [first] = args;
  const callback = args.findLast((arg) => typeof arg === "function");
  const options = typeof first === "object" && first !== null ? { ...first } : { port: Number(first ?? 0) };
  if (options.path !== undefined || options.fd !== undefined || Number.isNaN(options.port)) {
    throw new Error("loopback.mjs: only listening on a port is allowed");
  }
  return listen.call(this, { ...options, host: HOST }, ...(callback ? [callback] : []));
};
