/** What the exit codes mean. A script may rely on them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  signIn: 4,
  someFailed: 5,
  forbidden: 6,
  conflict: 7,
  temporary: 8,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: "Done",
  failed: "Failed",
  usage: "Wrong usage, or a question that nobody was there to answer",
  notFound: "Not found",
  signIn: "Sign-in needed, or refused",
  someFailed: "Some items failed, the others are done",
  forbidden: "Not allowed",
  conflict: "Conflict with what is there",
  temporary: "Temporary: a repeat can help",
  interrupted: "Interrupted",
};
