/** What the recording shows: an owner's first ten minutes, from no account to undoing what an agent did. */

export type Person = "ada" | "bot";

export interface Step {
  readonly person: Person;
  /** What is typed. `{login}` is the line that the invite's text names. */
  readonly line: string;
  /** Answers to what the command asks, in turn. */
  readonly answers?: readonly string[];
  /** A comment above the line. */
  readonly says?: string;
}

/** The files that people have, by person and path. */
export const FILES: Readonly<Record<Person, Readonly<Record<string, string>>>> = {
  ada: {
    "reports/plan.md": "# Plan\n\nShip in March. Budget: 40,000.\n",
  },
  bot: { "notes.md": "# Notes\n\nOrders grow by half a month.\n", "plan.md": "# Plan\n\nShip whenever.\n" },
};

export const STORY: readonly Step[] = [
  {
    person: "ada",
    says: "an account, with a chain key of its own",
    line: "coffer signup --dev --email ada@example.com --base-url http://127.0.0.1:8787 --network-file network.json",
  },
  { person: "ada", line: 'coffer vaults create "Team" --shared', says: "a vault that the service cannot read" },
  { person: "ada", line: "coffer upload reports --vault Team" },
  { person: "ada", line: "coffer invites create --name bot --vaults Team --prompt", says: "let an agent in" },
  { person: "bot", line: "{login}", says: "the agent, on its own machine, pastes one line" },
  { person: "ada", line: "coffer agents list --approve", answers: ["y"] },
  { person: "bot", line: "coffer upload notes.md --vault Team", says: "the agent works in the vault" },
  { person: "bot", line: "coffer upload plan.md --vault Team --folder reports --if-exists version" },
  { person: "ada", line: "coffer cat Team:reports/plan.md", says: "that was not meant: look back, and undo it" },
  { person: "ada", line: "coffer versions list Team:reports/plan.md" },
  { person: "ada", line: "coffer agents rewind bot --since 1h", answers: ["y"] },
  { person: "ada", line: "coffer cat Team:reports/plan.md" },
  { person: "ada", line: "coffer ls Team:" },
];
