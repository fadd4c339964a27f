/** Gateways of tests serve the playground of these sources. It is bundled before the tests, if it is not there or not up to date. */
import { writePlayground } from '../../deploy/write-playground.ts';

export async function setup(): Promise<void> {
  await writePlayground();
}
