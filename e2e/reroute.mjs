// A preload (node --import) that keeps what an official server fetches on this machine.
// VITRINE_STAND_IN is the address that answers for all others: https://host/path is asked for
// there as /host/path. Without it, such a fetch fails as it does without a network.
const STAND_IN = process.env.VITRINE_STAND_IN;
const HERE = new Set(["127.0.0.1", "localhost", "[::1]"]);
const fetched = globalThis.fetch;

globalThis.fetch = async function (input, init) {
  const url = new URL(input instanceof Request ? input.url : input);
  if (!["http:", "https:"].includes(url.protocol) || HERE.has(url.hostname)) return fetched(input, init);
  if (!STAND_IN) throw new TypeError(`reroute.mjs: ${url.host} is not on this machine`);
  const there = new URL(`/${url.host}${url.pathname}${url.search}`, STAND_IN);
  return fetched(input instanceof Request ? new Request(there, input) : there, init);
};
