/** The bill of materials: what is in it, and that two documents are equal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from 'graphql';
import { expect, test } from 'vitest';
import { sbom } from '../../deploy/image/sbom.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const control = 'Package: libexample1\nVersion: 1:2.36-9+deb12u14\nArchitecture: amd64\nDescription: an example\n';
const graphql = `graphql@${version}`;

function debianFolder(text = control): string {
  const folder = temporaryDirectory('sbom');
  writeFileSync(join(folder, 'libexample1'), text);
  writeFileSync(join(folder, 'libexample1.md5sums'), 'd41d8cd98f00b204e9800998ecf8427e  usr/lib/libexample.so.1\n');
  return folder;
}

test('it lists the packages that it is given, Node and the packages of the base, and no others', () => {
  const document = sbom({ packages: [graphql], node: process.execPath, debian: debianFolder() });
  expect(document.components.map(({ purl }) => purl)).toEqual([
    `pkg:npm/${graphql}`,
    `pkg:generic/node@${process.versions.node}`,
    'pkg:deb/debian/libexample1@1%3A2.36-9%2Bdeb12u14?arch=amd64',
  ]);
  const [npm, node] = document.components;
  expect(npm).toMatchObject({ licenses: [{ license: { id: 'MIT' } }], hashes: [{ alg: 'SHA-512' }] });
  expect(node).toMatchObject({ hashes: [{ alg: 'SHA-256', content: expect.stringMatching(/^[0-9a-f]{64}$/) }] });
  expect(document.metadata.component).toMatchObject({ name: 'portolan', version: packageJson.version });
  expect(document.dependencies[0]).toEqual({ ref: `portolan@${packageJson.version}`, dependsOn: [graphql] });
});

test('it has no time and no random number, so two documents are equal', () => {
  const debian = debianFolder();
  const text = (): string => JSON.stringify(sbom({ packages: [graphql], node: process.execPath, debian }));
  expect(text()).toBe(text());
  expect(text()).not.toMatch(/urn:uuid|timestamp/);
});

test('a package that the lock does not name, and a base that does not list its packages, are refused', () => {
  const packages = ['nothing-like-it@1.0.0'];
  const node = process.execPath;
  const refused = (work: () => unknown, message: string): void =>
    expect(work).toThrow(expect.objectContaining({ code: 'CONFIGURATION', message: expect.stringContaining(message) }));
  refused(() => sbom({ packages, node, debian: debianFolder() }), 'nothing-like-it@1.0.0');
  refused(() => sbom({ packages: [], node, debian: temporaryDirectory('sbom') }), 'lists no packages');
  refused(() => sbom({ packages: [], node, debian: debianFolder('Package: x\n') }), 'names no Version');
});
