/** Reads Prometheus' text format, as /metrics answers it. */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Every series of the text. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, inner = '', value] = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const pairs = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return { name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) };
  });
}

/** The value of the metric's series with exactly these labels; undefined when the series is missing. */
export function sampleOf(
  text: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const keyOf = (given: Sample['labels']): string => JSON.stringify(Object.entries(given).toSorted());
  const wanted = keyOf(labels);
  return samplesOf(text).find((each) => each.name === name && keyOf(each.labels) === wanted)?.value;
}
