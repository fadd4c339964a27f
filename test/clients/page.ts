/** The script of the test's page: the test opens one of the clients and drives it by name. */
import { apolloDriver } from './apollo-driver.ts';
import type { Driver, LiveDriver } from './documents.ts';
import { relayDriver } from './relay-driver.ts';
import { urqlDriver } from './urql-driver.ts';

const drivers = { apollo: apolloDriver, urql: urqlDriver, relay: relayDriver };
let driver: LiveDriver | null = null;

export interface Page {
  open(client: keyof typeof drivers, endpoint: string, namespace: string, first: number): void;
  /** Calls a function of the open client. */
  call(name: keyof Driver, ...values: readonly unknown[]): unknown;
}

const page: Page = {
  open(client, endpoint, namespace, first) {
    driver = drivers[client](endpoint, namespace, first);
  },
  call(name, ...values) {
    const method = (driver as Driver | null)?.[name] as ((...values: readonly unknown[]) => unknown) | undefined;
    return method?.(...values);
  },
};

Object.assign(globalThis, { page });
