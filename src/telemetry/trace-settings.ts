/**
 * The standard variables of OpenTelemetry for traces. The exporter itself reads OTEL_EXPORTER_OTLP_*, and the resource
 * OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. As the specification demands, a wrong value is reported and its default counts.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const protocols = ['http/json', 'http/protobuf'] as const;
const propagators = ['tracecontext', 'baggage'] as const;

export interface TraceSettings {
  readonly sampler: (typeof samplers)[number];
  /** The share of traces that the samplers with a ratio take. */
  readonly ratio: number;
  readonly protocol: (typeof protocols)[number];
  readonly propagators: readonly (typeof propagators)[number][];
  readonly batch: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
  /** Sentences about values that do not count. */
  readonly problems: readonly string[];
}

/** Are traces wanted? Without them, the SDK is not loaded. */
export function wantsTraces(environment: Environment): boolean {
  const of = (name: string): string => (environment[name] ?? '').trim();
  const endpoint = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || of('OTEL_EXPORTER_OTLP_ENDPOINT');
  const isOff = of('OTEL_SDK_DISABLED').toLowerCase() === 'true' || of('OTEL_TRACES_EXPORTER') === 'none';
  return endpoint !== '' && !isOff;
}

export function traceSettings(environment: Environment): TraceSettings {
  const problems: string[] = [];
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined;
  const oneOf = <T extends string>(name: string, allowed: readonly T[], otherwise: T): T => {
    const given = text(name);
    const found = allowed.find((each) => each === given);
    if (given !== undefined && found === undefined) {
      problems.push(`${name} is ${JSON.stringify(given)}; ${otherwise} counts. Choose one of ${allowed.join(', ')}.`);
    }
    return found ?? otherwise;
  };
  const number = (name: string, otherwise: number, most = Number.MAX_SAFE_INTEGER): number => {
    const given = text(name);
    const found = Number(given ?? otherwise);
    if (found >= 0 && found <= most) return found;
    problems.push(`${name} is ${JSON.stringify(given)}; ${otherwise} counts. Write a number from 0 to ${most}.`);
    return otherwise;
  };
  const protocolName =
    text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === undefined
      ? 'OTEL_EXPORTER_OTLP_PROTOCOL'
      : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  const wanted = (text('OTEL_PROPAGATORS') ?? propagators.join()).split(',').map((each) => each.trim());
  const known = propagators.filter((each) => wanted.includes(each));
  const unknown = wanted.filter((each) => each !== 'none' && !propagators.some((name) => name === each));
  if (unknown.length > 0) {
    problems.push(`OTEL_PROPAGATORS names ${unknown.join(', ')}. Choose among ${propagators.join(', ')}, or none.`);
  }
  return {
    sampler: oneOf('OTEL_TRACES_SAMPLER', samplers, 'parentbased_always_on'),
    ratio: number('OTEL_TRACES_SAMPLER_ARG', 1, 1),
    protocol: oneOf(protocolName, protocols, 'http/json'),
    propagators: known,
    batch: {
      scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY', 5000),
      exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT', 30_000),
      maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE', 2048),
      maxExportBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512),
    },
    problems,
  };
}
