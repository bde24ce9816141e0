/** What the framework says of a line that it cannot read, in our words. */
import { ArgumentScannerError, formatMessageForArgumentScannerError, text_en } from "@stricli/core";
import { kebab } from "./flag-forms.ts";

/** How different a word may be from the one that is proposed: a letter more or less, two that changed places. */
export const DISTANCES = { threshold: 5, weights: { insertion: 1, deletion: 2, substitution: 2, transposition: 0 } };

const flag = (name: string): string => `--${kebab(name.replace(/^--/, ""))}`;

const orMeant = (corrections: readonly string[]): string =>
  corrections.length === 0 ? "" : `: did you mean ${corrections.join(" or ").replaceAll("`", "")}?`;

export const TEXT = {
  ...text_en,
  noCommandRegisteredForInput: ({ input, corrections }: { input: string; corrections: readonly string[] }): string =>
    `There is no command ${input}${orMeant(corrections)}`,
  exceptionWhileParsingArguments: (thrown: unknown): string =>
    thrown instanceof ArgumentScannerError
      ? formatMessageForArgumentScannerError(thrown, {
          FlagNotFoundError: ({ input, corrections }) =>
            `There is no flag ${flag(input)}${orMeant(corrections.map(flag))}`,
          UnsatisfiedFlagError: ({ externalFlagName }) => `${flag(externalFlagName)} is missing, or its value`,
          UnsatisfiedPositionalError: ({ placeholder, limit }) =>
            limit === undefined || limit[0] < 2
              ? `${placeholder.toUpperCase()} is missing`
              : `${placeholder.toUpperCase()} is needed ${String(limit[0])} times at least`,
          UnexpectedPositionalError: ({ expectedCount, input }) =>
            expectedCount === 0
              ? `${input} is too much: no argument belongs here`
              : `${input} is one argument too much`,
        })
      : "Wrong usage",
};
