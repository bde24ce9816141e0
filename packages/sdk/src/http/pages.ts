import type { api } from "@coffer/contract";
import { everyPage } from "./every-page.ts";
import type { Result } from "./endpoint-types.ts";

type Lists = Pick<Result<typeof api.apiKeys.list>, "apiKeys"> &
  Pick<Result<typeof api.changes.list>, "changes"> &
  Pick<Result<typeof api.webhooks.deliveries>, "deliveries"> &
  Pick<Result<typeof api.files.entries>, "entries"> &
  Pick<Result<typeof api.audit.list>, "events"> &
  Pick<Result<typeof api.files.list>, "files"> &
  Pick<Result<typeof api.folders.list>, "folders"> &
  Pick<Result<typeof api.invites.list>, "invites"> &
  Pick<Result<typeof api.members.list>, "members"> &
  Pick<Result<typeof api.sessions.list>, "sessions"> &
  Pick<Result<typeof api.vaults.list>, "vaults"> &
  Pick<Result<typeof api.files.versions>, "versions"> &
  Pick<Result<typeof api.webhooks.list>, "webhooks">;

/** The list of a page, by its name. */
export type PageLists<Item> = { readonly [Name in keyof Lists]: Item[] };

/** One page of a list: the list under its own name, and under `items`. */
export type Page<Name extends keyof PageLists<Item>, Item> = Pick<PageLists<Item>, Name> & PageFacts<Item>;

/** What every page of a list has. */
export interface PageFacts<Item> {
  /** Pass it as `cursor` to get the next page. null: this is the last page. */
  readonly nextCursor: string | null;
  /** The rows of this page, whatever the list is called. */
  readonly items: readonly Item[];
}

type Loaded<Name extends keyof PageLists<Item>, Item, More> = Omit<Page<Name, Item>, "items"> & More;
type None = Record<never, never>;

/**
 * A list call: a Promise of its first page, and all its items one after the other. Nothing is sent until it is awaited
 * or iterated. `More`: what its pages have beside their rows.
 *
 * @example
 * ```ts
 * const page = await client.files.list({ limit: 50 }); // one page
 * for await (const file of client.files.list()) console.log(file.name); // every item
 * for await (const page of client.files.list().pages()) console.log(page.items.length);
 * ```
 */
export class PagePromise<Name extends keyof PageLists<Item>, Item, More = None>
  implements Promise<Page<Name, Item> & More>, AsyncIterable<Item>
{
  readonly [Symbol.toStringTag] = "PagePromise";
  readonly #name: Name;
  readonly #load: (cursor: string | undefined) => Promise<Loaded<Name, Item, More>>;
  readonly #start: string | undefined;
  #first: Promise<Page<Name, Item> & More> | null = null;

  constructor(
    name: Name,
    load: (cursor: string | undefined) => Promise<Loaded<Name, Item, More>>,
    start: string | undefined,
  ) {
    this.#name = name;
    this.#load = load;
    this.#start = start;
  }

  then<Value = Page<Name, Item> & More, Failure = never>(
    onPage?: ((page: Page<Name, Item> & More) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    return this.#firstPage().then(onPage, onError);
  }

  catch<Failure = never>(
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<(Page<Name, Item> & More) | Failure> {
    return this.#firstPage().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page<Name, Item> & More> {
    return this.#firstPage().finally(onEnd);
  }

  /** Page after page until the last one. @throws ContractError for a list that does not end. */
  async *pages(): AsyncGenerator<Page<Name, Item> & More, void, undefined> {
    yield* everyPage(`${this.#name}.list`, ({ cursor }) =>
      cursor === undefined ? this.#firstPage() : this.#page(cursor),
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  #firstPage(): Promise<Page<Name, Item> & More> {
    return (this.#first ??= this.#page(this.#start));
  }

  async #page(cursor: string | undefined): Promise<Page<Name, Item> & More> {
    const loaded = await this.#load(cursor);
    const items: readonly Item[] = loaded[this.#name];
    return { ...loaded, items };
  }
}

/** The pages of a list from the query's own cursor on; `load` gets the query of one page. */
export function paged<
  Name extends keyof PageLists<Item>,
  Item,
  Query extends { readonly cursor?: string | null | undefined },
  More = None,
>(
  name: Name,
  query: Query,
  load: (query: Omit<Query, "cursor"> & { readonly cursor?: string }) => Promise<Loaded<Name, Item, More>>,
): PagePromise<Name, Item, More> {
  const { cursor: start, ...rest } = query;
  return new PagePromise(name, (cursor) => load(cursor === undefined ? rest : { ...rest, cursor }), start ?? undefined);
}
