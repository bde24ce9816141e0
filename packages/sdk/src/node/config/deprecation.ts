import type { Middleware } from "../../http/transports.ts";

const warned = new Set<string>();

/**
 * Warns once per process of each operation that the service will end (RFC 9745). By default it is a warning of the process
 * with the code `COFFER_DEPRECATED`.
 * @example
 * import { createClient } from "@coffer/sdk";
 * import { deprecationWarnings } from "@coffer/sdk/node";
 * const client = createClient({ baseUrl, credentials: { apiKey }, middleware: [deprecationWarnings()] });
 */
export function deprecationWarnings(warn: (message: string) => void = emitWarning): Middleware {
  return async (request, next, { endpointId }) => {
    const response = await next(request);
    if (response.headers.has("deprecation") && !warned.has(endpointId)) {
      warned.add(endpointId);
      const sunset = Date.parse(response.headers.get("sunset") ?? "");
      const end = Number.isNaN(sunset) ? "" : ` on ${new Date(sunset).toISOString().slice(0, 10)}`;
      warn(`The service will end ${endpointId}${end}. Update this program before`);
    }
    return response;
  };
}

const emitWarning = (message: string): void => {
  process.emitWarning(message, { code: "COFFER_DEPRECATED" });
};
