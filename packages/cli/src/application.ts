/** The declarations as an application of the framework: only the command that is meant is loaded, the others lend their words. */
import {
  buildApplication,
  buildCommand,
  buildRouteMap,
  help,
  version,
  type Application,
  type Command as FrameworkCommand,
  type CommandContext,
  type FlagParametersForType,
  type RouteMap,
} from "@stricli/core";
import {
  isGroup,
  type Arguments,
  type Command,
  type Completer,
  type Flag,
  type Flags,
  type Repeated,
  type Routes,
} from "./declarations.ts";
import type { RoutedCommand } from "./find-route.ts";
import { ROOT_BRIEF } from "./help-page.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { DISTANCES, TEXT } from "./parser-messages.ts";
import { VERSION } from "./version.ts";

/** Called with the parsed values. */
export type Handler = (
  command: Command,
  flags: Readonly<Record<string, unknown>>,
  args: readonly unknown[],
) => Promise<void>;

export function buildApp(routes: Routes, routed: RoutedCommand | null, handler: Handler): Application<CommandContext> {
  return buildApplication(
    buildGroup(routes, ROOT_BRIEF, routed, [], handler),
    {
      name: "coffer",
      scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true, distanceOptions: DISTANCES },
      localization: { text: TEXT },
    },
    {
      // Its own pages are not shown: help-page.ts makes ours.
      help: help({ brief: "Print help and exit", alias: "h", defaultForRouteMap: true, formatting: FORMATTING }),
      version: version({ brief: "Print the version and exit", alias: "v", info: { currentVersion: VERSION } }),
    },
  );
}

/** The framework wants it, and then prints what nobody sees. */
const FORMATTING = {
  caseStyle: "convert-camel-to-kebab",
  useAliasInUsageLine: false,
  onlyRequiredInUsageLine: true,
} as const;

function buildGroup(
  routes: Routes,
  brief: string,
  routed: RoutedCommand | null,
  path: readonly string[],
  handler: Handler,
): RouteMap<CommandContext> {
  const built = Object.entries(routes).map(
    ([name, route]): [string, RouteMap<CommandContext> | FrameworkCommand<CommandContext>] => {
      const own = [...path, name];
      if (isGroup(route)) return [name, buildGroup(route.routes, route.brief, routed, own, handler)];
      const isRouted = routed !== null && routed.path.join(" ") === own.join(" ");
      return [name, isRouted ? buildRunnable(routed.command, handler) : buildListed(route.brief)];
    },
  );
  const hidden = Object.entries(routes).filter(([, route]) => !isGroup(route) && route.isHidden === true);
  return buildRouteMap({
    routes: Object.fromEntries(built),
    docs: {
      brief,
      hideRoute: Object.fromEntries(hidden.map(([name]) => [name, true])),
    },
  });
}

/** A command that is only listed. */
const buildListed = (brief: string): FrameworkCommand<CommandContext> =>
  buildCommand({ func: () => undefined, parameters: {}, docs: { brief } });

function buildRunnable(command: Command, handler: Handler): FrameworkCommand<CommandContext> {
  const { brief, args, isList } = command;
  const { flags, aliases } = flagParameters(command.flags, isList);
  return buildCommand<Record<string, unknown>, unknown[]>({
    func: (values: Readonly<Record<string, unknown>>, ...parsedArgs: readonly unknown[]) =>
      handler(command, values, parsedArgs),
    parameters: { flags, aliases, positional: positionalOf(args) },
    docs: { brief },
  });
}

type FlagParameters = FlagParametersForType<Record<string, unknown>>;

function flagParameters(own: Flags, isList: boolean): { flags: FlagParameters; aliases: Record<string, string> } {
  const globals = Object.entries({ ...GLOBAL_FLAGS, ...(isList ? LIST_FLAGS : {}) });
  const flags = Object.fromEntries([
    ...Object.entries(own).map(([name, flag]) => [name, flagParameter(flag, false)]),
    ...globals.map(([name, flag]) => [name, flagParameter(flag, true)]),
  ]) as FlagParameters;
  const letters = Object.entries(own).flatMap(([name, { letter }]) => (letter === undefined ? [] : [[letter, name]]));
  return { flags, aliases: Object.fromEntries(letters) as Record<string, string> };
}

function flagParameter(flag: Flag<unknown>, hidden: boolean): object {
  const { kind, brief, placeholder, isRequired, values, parse = String, complete } = flag;
  const shared = { brief, optional: isRequired !== true, ...(hidden ? { hidden } : {}) };
  if (kind === "switch") return { ...shared, kind: "boolean", withNegated: false };
  if (kind === "choice") return { ...shared, kind: "enum", values };
  return {
    ...shared,
    kind: "parsed",
    parse,
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(kind === "texts" ? { variadic: "," } : {}),
    ...(kind === "verbatim" ? { variadic: true } : {}),
    ...completionOption(complete),
  };
}

const completionOption = (complete: Completer | undefined): object =>
  complete === undefined ? {} : { proposeCompletions: (partial: string) => complete(partial) };

function positionalOf(args: Arguments | Repeated): never {
  const one = ({ name, brief, isOptional, parse = String, complete }: Arguments[number]): object => ({
    brief,
    placeholder: name,
    parse,
    ...(isOptional === true ? { optional: true } : {}),
    ...completionOption(complete),
  });
  const built =
    "each" in args
      ? {
          kind: "array",
          parameter: one(args.each),
          minimum: args.least,
          ...(args.most === undefined ? {} : { maximum: args.most }),
        }
      : { kind: "tuple", parameters: args.map(one) };
  // The framework's types follow from literals; ours were forgotten with the command's.
  return built as never;
}
