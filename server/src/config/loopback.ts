/** Whether only this machine can reach a server that listens there (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3). */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}
