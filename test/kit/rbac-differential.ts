/**
 * Portolan's decisions beside those of an API server: random roles and bindings are written, read back into an index as changes, and
 * each decision of the index is compared with the server's SubjectAccessReview.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RbacIndex } from '../../src/access/rbac-index.ts';
import { readBinding, readRole } from '../../src/access/rbac-objects.ts';
import { Dice } from '../fuzz/dice.ts';
import { randomRbac, randomRequest, randomUser, rbacNamespaces, rbacPath, reviewOf } from './rbac-world.ts';

/** A request to the API server as an administrator. Rejects for a status from 400 on, but 404 and 409. */
export type AskServer = (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;

interface Served {
  readonly metadata: { readonly namespace?: string; readonly name: string; readonly resourceVersion: string };
}

export interface Differential {
  readonly decisions: number;
  readonly allowed: number;
  readonly mismatches: readonly string[];
}

const kinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'] as const;
/** Reviews in flight. */
const atOnce = 16;
/** The server learns of a change from its own watch. */
const settleMs = 5000;

/** @param decisions how many are compared, in rounds with other roles and bindings. */
export async function compareDecisions(ask: AskServer, decisions: number, seed: number): Promise<Differential> {
  const dice = new Dice(seed);
  const mirror = new Mirror(ask);
  for (const name of rbacNamespaces) await ask('POST', '/api/v1/namespaces', { metadata: { name } });
  const mismatches: string[] = [];
  let allowed = 0;
  let done = 0;
  for (let round = 0; done < decisions; round += 1) {
    for (let change = 0; change < (round === 0 ? 90 : 20); change += 1) await write(ask, dice);
    await mirror.read();
    const questions = dice.times(Math.min(250, decisions - done), () => ({
      user: randomUser(dice),
      request: randomRequest(dice),
    }));
    done += questions.length;
    const waiting = questions.values();
    const worker = async (): Promise<void> => {
      for (const { user, request } of waiting) {
        const ours = (): boolean => mirror.index.grantsOf(user).allow(request) !== null;
        const theirs = await agreed(ask, reviewOf(user, request), ours, mirror);
        if (theirs) allowed += 1;
        if (theirs !== ours())
          mismatches.push(`${JSON.stringify({ user, request })}: ${theirs ? 'allowed' : 'refused'} by the server`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }
  return { decisions: done, allowed, mismatches };
}

/** The server's decision. Where it differs from ours, it is asked again until the server has seen all changes. */
async function agreed(ask: AskServer, review: object, ours: () => boolean, mirror: Mirror): Promise<boolean> {
  const until = performance.now() + settleMs;
  for (;;) {
    const { body } = await ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review);
    const theirs = (body as { status: { allowed: boolean } }).status.allowed;
    if (theirs === ours() || performance.now() > until) return theirs;
    await sleep(250);
    // A controller may have written the rules of an aggregated role since.
    await mirror.read();
  }
}

/** Writes a random role or binding, or deletes one. */
async function write(ask: AskServer, dice: Dice): Promise<void> {
  const object = randomRbac(dice);
  const path = rbacPath(object);
  await ask('DELETE', `${path}/${object.metadata.name}`);
  if (dice.chance(0.85)) await ask('POST', path, object);
}

/** The index of what the server serves, brought up to date by the differences between lists. */
class Mirror {
  readonly index = new RbacIndex();
  readonly #ask: AskServer;
  #known = new Map<string, { readonly version: string; readonly remove: () => void }>();
  #reading: Promise<void> | null = null;

  constructor(ask: AskServer) {
    this.#ask = ask;
  }

  read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const found = new Map<string, { readonly version: string; readonly remove: () => void }>();
    for (const kind of kinds) {
      const { body } = await this.#ask('GET', `/apis/rbac.authorization.k8s.io/v1/${kind}`);
      for (const object of (body as { items: readonly Served[] }).items) {
        const { namespace = '', name, resourceVersion: version } = object.metadata;
        const key = `${kind} ${namespace} ${name}`;
        const isRole = kind === 'roles' || kind === 'clusterroles';
        const remove = (): void =>
          isRole ? this.index.removeRole(namespace, name) : this.index.removeBinding(namespace, name);
        found.set(key, { version, remove });
        if (this.#known.get(key)?.version === version) continue;
        if (isRole) this.index.setRole(readRole(namespace, name, object));
        else {
          const binding = readBinding(namespace, name, object);
          if (binding === null) remove();
          else this.index.setBinding(binding);
        }
      }
    }
    for (const [key, { remove }] of this.#known) if (!found.has(key)) remove();
    this.#known = found;
  }
}
