/** Every command of a tree, loaded, with the words that lead to it. */
import { isGroup, type Command, type Routes } from "./declarations.ts";

export interface ListedCommand {
  readonly path: readonly string[];
  readonly brief: string;
  readonly command: Command;
}

export async function listCommands(routes: Routes, path: readonly string[] = []): Promise<ListedCommand[]> {
  const commands = await Promise.all(
    Object.entries(routes).map(async ([name, route]) => {
      const own = [...path, name];
      if (isGroup(route)) return await listCommands(route.routes, own);
      return [{ path: own, brief: route.brief, command: (await route.load()).default }];
    }),
  );
  return commands.flat();
}
