/** The flags of commands that move folders: which of their files stay out. */
import type { PathRules } from "@coffer/tasks";
import { verbatim } from "../../declarations.ts";

export const EXCLUDE = verbatim("Leave out of folders what this pattern of .gitignore names; give it again for more", {
  placeholder: "PATTERN",
});
export const INCLUDE = verbatim("Take what --exclude or .cofferignore leaves out; give it again for more", {
  placeholder: "PATTERN",
});

export const rulesOf = ({
  exclude = [],
  include = [],
}: {
  readonly exclude: readonly string[] | undefined;
  readonly include: readonly string[] | undefined;
}): PathRules => ({ exclude, include });
