/**
 * Completes package-lock.json, so that every npm from 9 to 12 installs from it. When npm writes the file, two things are lost:
 *
 *   engines   are removed. npm compares them with the Node that runs npm, and the packages run with the Node of the lock. An npm with an
 *             older Node would print a warning for each package. It would leave out optional ones, such as rolldown's native binding.
 *   gypfile   is false for each package whose scripts `allowScripts` of package.json forbids. An npm that does not know `allowScripts`
 *             would compile better-sqlite3. The package has a prebuilt binary, and the machine may have no compiler.
 *
 * npm drops `gypfile` each time. It writes the `engines` of new and updated packages.
 */

interface LockedPackage {
  readonly engines?: unknown;
  readonly gypfile?: boolean;
  readonly hasInstallScript?: boolean;
  readonly [field: string]: unknown;
}

export interface Lock {
  /** By path, such as `node_modules/graphql`. The project itself has the path ''. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
  readonly [field: string]: unknown;
}

export interface Manifest {
  readonly allowScripts?: Readonly<Record<string, boolean>>;
}

/** The text of package-lock.json, complete. Text that is complete already stays as it is. */
export function completeLock(text: string, { allowScripts = {} }: Manifest): string {
  const lock = JSON.parse(text) as Lock;
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const name = path.split('node_modules/').at(-1) ?? '';
    return [path, path === '' ? entry : completed(entry, allowScripts[name] === false)] as const;
  });
  return `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`;
}

function completed({ engines: _, ...entry }: LockedPackage, scriptsForbidden: boolean): LockedPackage {
  if (!scriptsForbidden) return entry;
  const { hasInstallScript: __, ...rest } = entry;
  return { ...rest, gypfile: false };
}
