/** A task: what a person asks, how a simple agent does it with the tools, and what must be true afterwards. */
import type { Agent } from "./agent.ts";
import type { EarlyWorld, Role, World } from "./world.ts";

interface TaskDefinition<Words, Known> {
  readonly name: string;
  /** The person's words. */
  readonly ask: string;
  readonly as: Role;
  /** Calls that the agent may make. */
  readonly most: number;
  /** Codes of failures that belong to the task, in their order. */
  readonly failures?: readonly string[];
  /** What happened so long ago, in milliseconds. */
  readonly past?: { readonly ago: number; readonly happen: (world: EarlyWorld, home: Home) => Promise<void> };
  /** What is there before. `words` is what the person's sentence names, `known` is for {@link verify}. */
  readonly prepare: (world: World, home: Home) => Promise<{ readonly words: Words; readonly known: Known }>;
  /** Takes nothing but the words and what the tools answer. Resolves with what the agent tells the person. */
  readonly play: (agent: Agent, words: Words) => Promise<string>;
  /** Looks at the service through the SDK, or at the disk. Throws when it is not as it must be. */
  readonly verify: (world: World, known: Known, told: string) => Promise<void>;
}

/** What a task has to itself. */
export interface Home {
  /** A local folder that the tools may touch. */
  readonly directory: string;
  /** A name that no other task uses, for a vault. */
  readonly title: string;
}

export interface EvalTask {
  readonly name: string;
  readonly ask: string;
  readonly as: Role;
  readonly most: number;
  readonly failures: readonly string[];
  readonly past: TaskDefinition<unknown, unknown>["past"];
  /** Resolves when everything is ready. What it returns plays, and then verifies. */
  readonly prepare: (
    world: World,
    home: Home,
  ) => Promise<{ play: (agent: Agent) => Promise<string>; verify: (told: string) => Promise<void> }>;
}

export function defineTask<Words, Known>(definition: TaskDefinition<Words, Known>): EvalTask {
  const { name, ask, as, most, failures = [], past } = definition;
  return {
    name,
    ask,
    as,
    most,
    failures,
    past,
    prepare: async (world, home) => {
      const { words, known } = await definition.prepare(world, home);
      return {
        play: (agent) => definition.play(agent, words),
        verify: (told) => definition.verify(world, known, told),
      };
    },
  };
}
