import { journey, type Journey } from "../observable.ts";

const findIt = journey("J24", "Find it", [
  "J24-words sdk: a part of a word finds public names, without case and accents, whole words first [D5-search-words]",
  "J24-tools mcp: a word part, the author's name, a folder's path, type and date find the same, and an unsearched vault is no \"none\"",
  "J24-cli cli: search finds the same by word, author, folder and type, and exits with 5 where not all was looked at",
  "J24-filters sdk: type, date, author and a folder with all below it narrow a search",
  "J24-merged sdk (shared): one search finds names of public and shared vaults, each once, in one order [D5-search-client]",
  "J24-shared-filters sdk (shared): word part, type, date, author and subtree find the same in a shared vault",
  "J24-shared-cli cli (shared): search finds the same there, and no searched word passes the wire",
  "J24-wire sdk (shared): the wire log holds no word that was searched in a shared vault, in any form [D5-search-no-words]",
  "J24-unfinished sdk (shared): an index that is not whole answers no file, and a cursor with which the next process goes on",
]);

export const journeys24: readonly Journey[] = [findIt];
