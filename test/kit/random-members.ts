/**
 * Random manifests of several kinds, and random changes of live objects: each change is one write of kubectl.
 *
 * Each text value is a token that occurs once, such as `v12x`. So an editor that replaces it changes one value.
 */
import { customKind } from './custom-kind.ts';
import type { Json } from './set-model.ts';

export interface KubectlChange {
  readonly args: readonly string[];
  readonly input?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user than the one who writes sets. */
  readonly byScaler?: boolean;
}

/** The kind of the tests that has a definition. */
export const setWidgetCrd = customKind({
  group: 'sets.example',
  kind: 'Widget',
  plural: 'widgets',
  version: { subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } } },
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          tags: { type: 'array', items: { type: 'string' } },
          more: { type: 'object', additionalProperties: { type: 'string' } },
        },
      },
      status: { type: 'object', properties: { size: { type: 'integer' } } },
    },
  },
});

/** The kinds of members with the plurals that kubectl takes. */
export const memberPlurals: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  Service: 'services',
  Deployment: 'deployments.apps',
  StatefulSet: 'statefulsets.apps',
  Pod: 'pods',
  Widget: 'widgets.sets.example',
};

const apiVersions: Readonly<Record<string, string>> = {
  Deployment: 'apps/v1',
  StatefulSet: 'apps/v1',
  Widget: 'sets.example/v1',
};

const scaled = new Set(['Deployment', 'StatefulSet', 'Widget']);

export class RandomMembers {
  readonly #random: () => number;
  readonly #namespace: string;
  /** An executable that replaces $EDIT_FROM by $EDIT_TO. */
  readonly #editor: string;
  #tokens = 0;

  constructor(random: () => number, namespace: string, editor: string) {
    this.#random = random;
    this.#namespace = namespace;
    this.#editor = editor;
  }

  pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  one<T>(values: readonly [T, ...T[]] | readonly T[]): T {
    return values[this.pick(values.length)] as T;
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  token(): string {
    this.#tokens += 1;
    return `v${this.#tokens}x`;
  }

  manifest(kind: string, name: string): Json {
    const marks = this.chance(0.7) ? { annotations: { note: this.token() } } : {};
    const labels = this.chance(0.4) ? { labels: { tier: this.token() } } : {};
    return {
      apiVersion: apiVersions[kind] ?? 'v1',
      kind,
      metadata: { name, namespace: this.#namespace, ...marks, ...labels },
      ...this.#body(kind, name),
    };
  }

  /** One write of the live object by somebody else. */
  change(live: Json): KubectlChange {
    const { kind, metadata } = live as { readonly kind: string; readonly metadata: { readonly name: string } };
    const what = `${memberPlurals[kind]}/${metadata.name}`;
    const choice = this.pick(scaled.has(kind) ? 9 : 7);
    switch (choice) {
      case 0:
        return { args: ['delete', what, '--now'] };
      case 1:
        return { args: ['label', what, `${this.one(['tier', 'other'])}=${this.token()}`, '--overwrite'] };
      case 2:
        return { args: ['annotate', what, this.chance(0.3) ? 'note-' : `note=${this.token()}`, '--overwrite'] };
      case 3:
        return this.#otherApply(kind, metadata.name);
      case 4:
        return this.edit(what, JSON.stringify(live));
      case 7:
        return { args: ['scale', what, `--replicas=${this.pick(9)}`] };
      case 8:
        return {
          args: ['patch', what, '--subresource=scale', '--type=merge', '-p', `{"spec":{"replicas":${this.pick(9)}}}`],
          byScaler: true,
        };
      default:
        return this.#patch(kind, what);
    }
  }

  /** `kubectl edit` that replaces one of the tokens in the text. */
  edit(what: string, text: string, token = this.oneToken(text)): KubectlChange {
    const next = this.token();
    const isEncoded = token.startsWith('dj');
    return {
      args: ['edit', what],
      env: {
        KUBE_EDITOR: this.#editor,
        EDIT_FROM: token,
        EDIT_TO: isEncoded ? Buffer.from(next).toString('base64') : next,
      },
    };
  }

  oneToken(text: string): string {
    // The values of Secrets are tokens in base64.
    const found = [...text.matchAll(/"(v\d+x|dj[A-Za-z0-9+/]+={0,2})"/g)].map(([, token]) => token as string);
    return found.length === 0 ? 'nothing' : this.one(found);
  }

  #body(kind: string, name: string): Json {
    const app = { app: name };
    switch (kind) {
      case 'ConfigMap':
        return { data: this.#some(['a', 'b', 'c'], () => this.token()) };
      case 'Secret':
        if (this.chance(0.3)) return { stringData: this.#some(['a', 'b', 'c'], () => this.token()) };
        return { data: this.#some(['a', 'b', 'c'], () => this.#encoded()) };
      case 'Service': {
        const http = { name: 'http', port: 80, targetPort: 8000 + this.pick(99) };
        const https = { name: 'https', port: 443, protocol: 'TCP', targetPort: 8000 + this.pick(99) };
        return { spec: { selector: { app: this.token() }, ports: this.chance(0.5) ? [http] : [http, https] } };
      }
      case 'Pod':
        return { spec: { containers: [{ name: 'main', image: this.token() }] } };
      case 'Widget':
        return {
          spec: {
            ...(this.chance(0.7) ? { size: this.pick(9) } : {}),
            ...(this.chance(0.7) ? { tags: [this.token(), this.token()] } : {}),
            more: this.#some(['x', 'y', 'z'], () => this.token()),
          },
        };
      default: {
        const env = Object.entries(this.#some(['A', 'B', 'C'], () => this.token()));
        const template = {
          metadata: { labels: app },
          spec: {
            containers: [
              { name: 'main', image: this.token(), env: env.map(([key, value]) => ({ name: key, value })) },
              ...(this.chance(0.3) ? [{ name: 'side', image: this.token() }] : []),
            ],
          },
        };
        const replicas = this.chance(0.7) ? { replicas: this.pick(9) } : {};
        const service = kind === 'StatefulSet' ? { serviceName: name } : {};
        return { spec: { ...replicas, ...service, selector: { matchLabels: app }, template } };
      }
    }
  }

  #patch(kind: string, what: string): KubectlChange {
    const patch = (type: string, body: object): KubectlChange => ({
      args: ['patch', what, `--type=${type}`, '-p', JSON.stringify(body)],
    });
    const container = (more: object): object => ({ containers: [{ name: 'main', ...more }] });
    switch (kind) {
      case 'ConfigMap':
        return patch('merge', { data: this.#some(['a', 'b', 'c', 'd'], () => this.#orNull(this.token())) });
      case 'Secret':
        return patch('merge', { data: this.#some(['a', 'b', 'c', 'd'], () => this.#orNull(this.#encoded())) });
      case 'Service':
        return patch('merge', {
          spec: { selector: this.#some(['app', 'tier'], () => this.#orNull(this.token())) },
        });
      case 'Pod':
        return patch('strategic', { spec: container({ image: this.token() }) });
      case 'Widget':
        return patch('merge', {
          spec: {
            tags: this.#orNull([this.token()]),
            more: this.#some(['x', 'y', 'z', 'w'], () => this.#orNull(this.token())),
          },
        });
      default: {
        const env = Object.entries(this.#some(['A', 'B', 'C', 'D'], () => this.token()));
        return patch('strategic', {
          spec: {
            ...(this.chance(0.3) ? { replicas: this.pick(9) } : {}),
            template: { spec: container({ env: env.map(([name, value]) => ({ name, value })) }) },
          },
        });
      }
    }
  }

  #otherApply(kind: string, name: string): KubectlChange {
    const bodies: Readonly<Record<string, object>> = {
      ConfigMap: { data: this.#some(['a', 'b', 'e'], () => this.token()) },
      Secret: { data: this.#some(['a', 'b', 'e'], () => this.#encoded()) },
      Deployment: { spec: { replicas: this.pick(9) } },
      StatefulSet: { spec: { replicas: this.pick(9) } },
      Widget: { spec: { more: this.#some(['x', 'v'], () => this.token()) } },
    };
    return {
      args: ['apply', '--server-side', '--force-conflicts', '--field-manager=other', '-f', '-'],
      input: {
        apiVersion: apiVersions[kind] ?? 'v1',
        kind,
        metadata: { name, namespace: this.#namespace, annotations: { note: this.token() } },
        ...bodies[kind],
      },
    };
  }

  #some<T>(names: readonly string[], value: () => T): Readonly<Record<string, T>> {
    const first = this.one(names);
    const chosen = names.filter((name) => name === first || this.chance(0.4));
    return Object.fromEntries(chosen.map((name) => [name, value()]));
  }

  #orNull<T>(value: T): T | null {
    return this.chance(0.3) ? null : value;
  }

  #encoded(): string {
    return Buffer.from(this.token()).toString('base64');
  }
}
