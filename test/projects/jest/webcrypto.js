// A page has WebCrypto, and jsdom has not.
if (crypto.subtle === undefined)
  Object.defineProperty(globalThis, "crypto", { value: require("node:crypto").webcrypto });
