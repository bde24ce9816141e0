/** What programs print to be pasted into a shell. */

/** Of `npm start`: what stands between empty lines, at the beginning of the line, below its "What next". The first is the line for other shells. */
export function printedBlocks(printed: string): string[] {
  const [, next = ""] = printed.split("\nWhat next\n");
  return next.split(/\n{2,}/).filter((block) => /^(?:\. |[A-Z_]+=|npm |sed |curl )/.test(block));
}

/** Of `coffer`: a next step, or a line for somebody else, to the end of its line. */
export function printedCommands(printed: string): string[] {
  return printed.split("\n").flatMap((line) => {
    const [, command] = /^(?: +|.*: )?((?:npm run -s coffer -- |coffer |echo \S+ \| ).*)$/.exec(line) ?? [];
    return command === undefined ? [] : [command];
  });
}
