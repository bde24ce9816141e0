/** A module that is loaded before everything else: the clock of its process is that many milliseconds ahead. */
export function clockAhead(milliseconds: number): string {
  return `
const now = Date.now;
Date.now = () => now() + ${milliseconds};
globalThis.Date = class extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [Date.now()] : given));
  }
};
`;
}
