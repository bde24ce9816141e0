/**
 * Which addresses a webhook may reach: those of the public internet and those that the operator named (OWASP
 * API7:2023). It refuses every address that is not known to be public.
 */
import ipaddr from "ipaddr.js";

export type IsAllowed = (address: string) => boolean;

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Parsed, number];

/** Azure hands out its platform's services at an address from a public range, to the virtual machine alone. */
const PLATFORM: readonly Network[] = [ipaddr.parseCIDR("168.63.129.16/32")];
/** RFC 4291 §2.4 and IANA's registry: all that is assigned as global unicast lies in here. */
const GLOBAL_UNICAST: Network = ipaddr.parseCIDR("2000::/3");
/** RFC 6052 §2.1: an IPv4 address behind a translator. RFC 8215's 64:ff9b:1::/48 is somebody's own and stays refused. */
const TRANSLATED: Network = ipaddr.parseCIDR("64:ff9b::/96");

/**
 * The rule for addresses as text, of either family. `networks` are CIDR blocks or addresses that are allowed as well;
 * throws for any other text.
 */
export function allowAddresses(networks: readonly string[]): IsAllowed {
  const named = networks.map(readNetwork);
  return (text) => {
    const address = read(text);
    if (address === null) return false;
    return isIn(named, address) || isPublic(address);
  };
}

/** IPv4 that is written in IPv6 is the same address to the system (RFC 4291 §2.5.5.2). */
function read(text: string): Parsed | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  if (!ipaddr.IPv6.isValid(text)) return null;
  // ipaddr.js takes the deprecated ::1.2.3.4 for ::ffff:1.2.3.4, which is another address.
  if (text.includes(".") && !/^::ffff:[\d.]+$/i.test(text)) return null;
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/**
 * 6to4 (RFC 7526) and Teredo (RFC 4380) carry IPv4 addresses too. Both are obsolete, no receiver uses them, and they
 * stay refused.
 */
function isPublic(address: Parsed): boolean {
  if (address instanceof ipaddr.IPv4) return address.range() === "unicast" && !isIn(PLATFORM, address);
  if (isIn([TRANSLATED], address)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(-4)));
  return isIn([GLOBAL_UNICAST], address) && address.range() === "unicast";
}

function isIn(networks: readonly Network[], address: Parsed): boolean {
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

function readNetwork(text: string): Network {
  const [address = "", bits, ...rest] = text.split("/");
  const parsed = read(address);
  if (parsed !== null && rest.length === 0) {
    const most = parsed.kind() === "ipv4" ? 32 : 128;
    const isMapped = most === 32 && address.includes(":");
    const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) - (isMapped ? 96 : 0) : -1;
    if (length >= 0 && length <= most) return [parsed, length];
  }
  throw new Error(`${text} is neither an address nor a CIDR block`);
}
