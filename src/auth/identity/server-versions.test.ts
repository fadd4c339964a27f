import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ServerVersions } from './server-versions.ts';

function serverOf(answers: readonly unknown[]): { client: Pick<RestClient, 'get'>; asked: () => number } {
  let asked = 0;
  const get = async (): Promise<unknown> => answers[Math.min(asked++, answers.length - 1)];
  return { client: { get: get as RestClient['get'] }, asked: () => asked };
}

test('a version is known for a minute', async () => {
  const clock = new ManualClock();
  const versions = new ServerVersions(clock);
  const { client, asked } = serverOf([{ gitVersion: 'v1.20.2' }, { gitVersion: 'v1.37.2-eks-1' }]);
  expect(await Promise.all([versions.minorOf(client), versions.minorOf(client)])).toEqual([20, 20]);
  expect(asked()).toBe(1);
  await clock.advance(60_000);
  expect(await versions.minorOf(client)).toBe(37);
});

test('a server without a version is as one before all others', async () => {
  const versions = new ServerVersions(new ManualClock());
  for (const answer of [{ gitVersion: 'v0.0.0-master+faecb196815e2' }, {}]) {
    expect(await versions.minorOf(serverOf([answer]).client)).toBe(0);
  }
});

test('after a failure the server is asked again', async () => {
  const versions = new ServerVersions(new ManualClock());
  const answers = [Promise.reject(new Error('no answer')), { gitVersion: 'v1.37.2' }];
  const { client } = serverOf(answers);
  await expect(versions.minorOf(client)).rejects.toThrow('no answer');
  expect(await versions.minorOf(client)).toBe(37);
});
