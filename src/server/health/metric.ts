/** A metric that each scrape sets again: its declaration, and how its value is read from the facts of the scrape. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** A value with its labels. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/**
 * The samples of a metric with labels, or the value of one without; true is 1. A metric without a value (null) has no series. One that
 * could not be read (undefined) keeps the values of the scrape before.
 */
type Read = readonly Sample[] | number | boolean | null | undefined;

export interface Metric<Facts> {
  readonly type: typeof Gauge | typeof Counter;
  /** Without the prefix `portolan_`. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (facts: Facts) => Read;
  /** How the value of a gateway is made from those of its serve processes; default: their sum. */
  readonly aggregator?: Aggregator;
}

/** `first`: each process would give the same value. */
type Aggregator = 'sum' | 'first' | 'max';

/** A metric that has the same value in each serve process of a gateway. */
export function same<Facts>(metric: Metric<Facts>): Metric<Facts> {
  return { ...metric, aggregator: 'first' };
}

/** A metric whose value is the largest of the serve processes. */
export function largest<Facts>(metric: Metric<Facts>): Metric<Facts> {
  return { ...metric, aggregator: 'max' };
}

function declaring(type: Metric<unknown>['type']) {
  return <Facts>(
    name: string,
    help: string,
    read: (facts: Facts) => Read,
    labels: readonly string[] = [],
  ): Metric<Facts> => ({ type, name, help, labels, read });
}

export const gauge = declaring(Gauge);
export const counter = declaring(Counter);

/** Adds the metric to the registry. @returns sets it from the facts of a scrape. */
export function registered<Facts>(
  { type, name, help, labels, read, aggregator = 'sum' }: Metric<Facts>,
  registry: Registry,
): (facts: Facts) => void {
  const metric = new type({
    name: `portolan_${name}`,
    help,
    labelNames: [...labels],
    registers: [registry],
    aggregator,
  });
  return (facts) => {
    const found = read(facts);
    if (found === undefined) return;
    metric.reset();
    if (found === null) metric.remove();
    else if (typeof found === 'object') for (const [own, value] of found) metric.inc(own, value);
    else metric.inc(Number(found));
  };
}
