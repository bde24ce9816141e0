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
