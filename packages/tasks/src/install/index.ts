/**
 * `@coffer/tasks/install`: registers the tool server with MCP hosts.
 * @packageDocumentation
 */
export { hostsOf, type Host, type HostId } from "./hosts.ts";
export {
  installInto,
  installState,
  isHostPresent,
  SERVER_NAME,
  uninstallFrom,
  type InstallChange,
  type InstallState,
} from "./install.ts";
export { entryIn, renderEntry, withEntry, type ServerEntry } from "./settings-text.ts";
