/** An object in one state, as a test writes it. */

export type Json = Readonly<Record<string, unknown>>;

export interface KindState {
  /** Of the API; empty for the core group. */
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** The object below its apiVersion, kind, name and namespace. A status is written by its subresource. */
  readonly body: Json & { readonly metadata?: Json; readonly status?: Json };
  /** Minor versions of Kubernetes 1 that take the object. */
  readonly since?: number;
  readonly until?: number;
  /** Deleted after it is written: a finalizer keeps the object. */
  readonly isDeleted?: true;
}

/** Objects of one kind; the names are made from the states. */
export function states(group: string, kind: string, bodies: Readonly<Record<string, KindState['body']>>): KindState[] {
  return Object.entries(bodies).map(([name, body]) => ({ group, kind, name, body }));
}

/** Only for servers of these minor versions of Kubernetes 1. */
export function between(from: number, until: number, given: readonly KindState[]): KindState[] {
  return given.map((each) => ({ ...each, since: from, until }));
}

export function sinceMinor(since: number, given: readonly KindState[]): KindState[] {
  return given.map((each) => ({ ...each, since }));
}

export function deleted(given: readonly KindState[]): KindState[] {
  return given.map((each) => {
    const metadata = { ...each.body.metadata, finalizers: ['example.com/keep'] };
    return { ...each, body: { ...each.body, metadata }, isDeleted: true };
  });
}
