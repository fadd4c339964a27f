/** Starts a gateway with `--aggregate` in a process of its own. */
import { must } from '../../src/base/must.ts';
import { eventually } from './eventually.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

interface StartedDoor {
  readonly process: GatewayProcess;
  /** Of the aggregated API server. */
  readonly port: number;
}

/** Resolves when both servers listen. Their addresses come by different streams, in any order. @param args as `startGatewayProcess` takes them */
export async function startDoor(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<StartedDoor> {
  const process = await startGatewayProcess(args, environment);
  try {
    const listens = await eventually(() =>
      must(
        process.log.find(({ msg }) => msg === 'the aggregated API server listens'),
        'the door says its port',
      ),
    );
    return { process, port: Number(listens['port']) };
  } catch (error) {
    await process.kill();
    throw error;
  }
}

/** The arguments of a command for flags as `runGateway` takes them; `'true'` is a flag without a value. */
export function flagArguments(flags: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flags).flatMap(([key, value]) => {
    const flag = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === 'true' ? [flag] : [flag, String(value)];
  });
}
