/** How the command line names the objects of a mutation: `deployment.apps/web`, as kubectl does. */
import { oneLine } from '../../base/text/terminal-line.ts';
import type { WriteItem } from './written-items.ts';

type Target = WriteItem['target'];

export class ObjectWords {
  readonly #files: readonly string[];
  readonly #severalClusters: boolean;
  readonly #severalNamespaces: boolean;

  /** @param files the names of the files, in the order of `docs` */
  constructor(items: readonly WriteItem[], files: readonly string[]) {
    this.#files = files;
    this.#severalClusters = new Set(items.map(({ target }) => target.cluster)).size > 1;
    this.#severalNamespaces = new Set(items.map(({ target }) => target.namespace)).size > 1;
  }

  /** `deployment.apps/web`; where the objects are in several namespaces or clusters, `deployment.apps/web in shop of east`. */
  name(target: Target): string {
    const { namespace } = target;
    const place = this.#severalNamespaces && namespace !== null ? ` in ${namespace}` : '';
    return oneLine(`${nameOf(target)}${place}${this.#cluster(target)}`);
  }

  /** `deployment.apps/web in shop`, with the cluster where there are several. */
  fullName(target: Target): string {
    const place = target.namespace === null ? '' : ` in ${target.namespace}`;
    return oneLine(`${nameOf(target)}${place}${this.#cluster(target)}`);
  }

  /** ` (web.yaml, document 2, line 14)`; empty for an object that no manifest names. */
  source({ place }: Target): string {
    return place === null ? '' : ` (${namingFiles(place, this.#files)})`;
  }

  #cluster({ cluster }: Target): string {
    return this.#severalClusters ? ` of ${cluster}` : '';
  }
}

/** The text of the gateway with the names of the files: `docs[1]` -> `web.yaml`. */
export function namingFiles(text: string, files: readonly string[]): string {
  return text.replace(/\bdocs\[(\d+)\]/g, (found, index) => files[Number(index)] ?? found);
}

function nameOf({ apiVersion, kind, name }: Target): string {
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${kind.toLowerCase()}${group}/${name ?? '(generated)'}`;
}
