/** A client's key in the limits of addresses. */
import ipaddr from "ipaddr.js";

/**
 * The address itself for IPv4, also when it is written in IPv6 (RFC 4291 §2.5.5.2). The /64 for IPv6, because anybody
 * with one IPv6 address has at least that many (RFC 6177 §2). Text that is no address is its own key.
 */
export function clientKeyOf(address: string): string {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return address;
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
