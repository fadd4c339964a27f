/** The modules that `portolan client-config` prints, under the names by which the bundle of the test's page knows them. */

declare module 'printed/apollo' {
  export * from 'printed/helpers';
  export const cacheConfig: object;
  export function withPortolan<C>(cache: C): C;
  export function applyChanges(cache: unknown, message: object, subscription?: { filter?: unknown }): void;
}

declare module 'printed/urql' {
  export * from 'printed/helpers';
  export const cacheConfig: object;
}

declare module 'printed/helpers' {
  export interface Held<T> {
    readonly objects: readonly T[];
    readonly cursor: string | null;
    readonly whole: boolean;
  }
  export function hold<T extends { readonly id: string }>(objects?: readonly T[], cursor?: string | null): Held<T>;
  export function foldChanges<T>(held: Held<T>, message: object): Held<T>;
  export function resumable<C>(client: C): C;
  export const reconnect: {
    readonly retryAttempts: number;
    shouldRetry(): boolean;
    retryWait(retries: number): Promise<void>;
  };
}
