/**
 * Which accounts have changed, in this process or another one. It makes polls of the rows come early and replaces none: news may be
 * late, come twice, or be lost.
 */
export interface News {
  /** Others' changes arrive by themselves at present, so that polls may be rare. */
  readonly isLive: boolean;
  /** null: any account may have. Answers how to end it. */
  onChange(listener: (accountIds: ReadonlySet<string> | null) => void): () => void;
}

/** Between two polls for what others may have changed, without news and with them. Milliseconds. */
const POLL = 250;
const RARE_POLL = 5_000;

export function pollPause({ isLive }: Pick<News, "isLive">): number {
  return isLive ? RARE_POLL : POLL;
}

/** For engines without news of other processes. */
export const NO_NEWS: News = { isLive: false, onChange: () => () => undefined };
