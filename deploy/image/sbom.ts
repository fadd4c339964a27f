/**
 * The image's software bill of materials in CycloneDX: the packages that the bundle holds, Node, and the Debian packages of the base.
 *
 * `npm sbom` describes every package of the lock. The document keeps those that the bundler used. `npm sbom --omit dev` would leave out
 * packages that a development package needs too, such as graphql. The document has no serial number and no time, so two builds write the
 * same bytes.
 *
 *   npm      pkg:npm/graphql@17.1.0
 *   Node     pkg:generic/node@24.21.0                              with the SHA-256 of the binary
 *   Debian   pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64     from the base's /var/lib/dpkg/status.d
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PortolanError } from '../../src/base/errors.ts';

interface SbomSources {
  /** `name@version` of each package in the bundle. */
  readonly packages: readonly string[];
  /** The binary of Node, which runs this program too. */
  readonly node: string;
  /** A folder with one control file for each Debian package of the base, as in /var/lib/dpkg/status.d of distroless images. */
  readonly debian: string;
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly [field: string]: unknown;
}

interface Document {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  readonly [field: string]: unknown;
}

/** Throws CONFIGURATION where a package of the bundle is not in the lock, and where the base does not list its packages. */
export function sbom({ packages, node, debian }: SbomSources): Document {
  const { serialNumber: _, metadata, components, dependencies, ...document } = packagesOfLock();
  const { component: root } = metadata;
  const known = new Map(components.map((component) => [component['bom-ref'], component]));
  const bundled = packages.map((reference) => {
    const component = known.get(reference);
    if (component !== undefined) return { ...component, scope: 'required', properties: [] };
    throw new PortolanError(
      'CONFIGURATION',
      `The bundle holds ${reference}, which package-lock.json does not name; run npm ci.`,
    );
  });
  const others = [nodeComponent(node), ...debianComponents(debian)];
  const kept = new Set([root['bom-ref'], ...packages]);
  const needs = dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)).toSorted() }));
  return {
    ...document,
    metadata: { component: { ...root, type: 'application', name: 'portolan' } },
    components: [...bundled, ...others],
    dependencies: [...needs, ...others.map((other) => ({ ref: other['bom-ref'], dependsOn: [] }))],
  };
}

function packagesOfLock(): Document {
  const text = execFileSync('npm', ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(text) as Document;
}

function nodeComponent(binary: string): Component {
  const { node: version } = process.versions;
  const content = createHash('sha256').update(readFileSync(binary)).digest('hex');
  return {
    'bom-ref': `node-runtime@${version}`,
    type: 'platform',
    name: 'node',
    version,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:generic/node@${version}`,
    hashes: [{ alg: 'SHA-256', content }],
    licenses: [{ license: { id: 'MIT' } }],
  };
}

function debianComponents(folder: string): readonly Component[] {
  // Beside the control files there are lists of checksums.
  const files = readdirSync(folder).filter((file) => !file.endsWith('.md5sums'));
  if (files.length === 0) throw new PortolanError('CONFIGURATION', `${folder} lists no packages; name another base.`);
  return files.toSorted().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const [name, version, arch] = ['Package', 'Version', 'Architecture'].map((field) => fieldOf(text, field, file));
    const purl = `pkg:deb/debian/${encodeURIComponent(name ?? '')}@${encodeURIComponent(version ?? '')}?arch=${arch}`;
    return { 'bom-ref': purl, type: 'library', name: name ?? '', version: version ?? '', purl };
  });
}

function fieldOf(control: string, field: string, file: string): string {
  const [, value] = new RegExp(`^${field}: *(.+)$`, 'm').exec(control) ?? [];
  if (value === undefined) throw new PortolanError('CONFIGURATION', `${file} of the base names no ${field}.`);
  return value.trim();
}
