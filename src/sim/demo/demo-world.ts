import type { Clock, Random } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { ObjectApi } from '../api/object-api.ts';
import type { ResourceRegistry } from '../api/resource-registry.ts';

export interface DemoWorld {
  stop(): Promise<void>;
}
export interface DemoWorldOptions {
  readonly api: ObjectApi;
  readonly registry: ResourceRegistry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly pods: number;
  readonly nodes: number;
  readonly churn: boolean;
}

export function startDemoWorld(_options: DemoWorldOptions): DemoWorld {
  return { stop: () => Promise.resolve() };
}
