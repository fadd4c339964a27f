import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { podRunners } from './control-plane.ts';
import { RealServer } from './real-servers.ts';
import { isSince, parseServerVersion } from './server-version.ts';

/** A server whose folder has these files; kube-apiserver prints a version as a real one does. */
function serverWith(...files: readonly string[]): RealServer {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-assets-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const file of files) {
    writeFileSync(join(dir, file), '#!/bin/sh\necho Kubernetes v1.31.4-rc.1\n');
    chmodSync(join(dir, file), 0o755);
  }
  return new RealServer('ASSETS', { ASSETS: dir });
}

test('a server is named after the version that its binary prints, not after its folder', () => {
  const server = serverWith('etcd', 'kube-apiserver');
  expect(server.missing()).toBeNull();
  expect(server.name).toBe('Kubernetes 1.31.4-rc.1');
  expect(server.assets.version).toEqual({ major: 1, minor: 31, text: '1.31.4-rc.1' });
});

test('a server that cannot be started says which binaries or which variable it lacks', () => {
  expect(serverWith('etcd', 'kube-apiserver').missing(podRunners)).toBe(
    'ASSETS has no kube-scheduler and no kwok and no kwok-stages.yaml',
  );
  expect(serverWith('etcd').missing()).toBe('ASSETS has no kube-apiserver');
  const unset = new RealServer('ASSETS', {});
  expect([unset.missing(), unset.name]).toEqual(['ASSETS is not set', 'ASSETS']);
  expect(() => unset.assets).toThrow('ASSETS is set');
});

test('versions are compared as numbers', () => {
  const version = parseServerVersion('Kubernetes v1.9.11+k3s1');
  expect([isSince(version, 1, 10), isSince(version, 1, 9), isSince(version, 1, 8), isSince(version, 0, 30)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
  expect(() => parseServerVersion('etcd')).toThrow('no version');
});
