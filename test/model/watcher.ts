/** One watch of the model's server: what was sent of it, and what goes wrong with its lines. */
import type { Random } from '../../src/base/clock.ts';
import type { ModelBody } from './model-body.ts';
import type { ModelFaults } from './model-faults.ts';
import { apiVersionOf, type ModelEvent, type ModelResource, shown } from './model-storage.ts';

export interface WatcherContext {
  readonly body: ModelBody;
  readonly resource: ModelResource;
  readonly sent: number;
  readonly random: Random;
  readonly faults: ModelFaults;
  /** Events behind a revision that its front end has. */
  readonly events: (after: number) => readonly ModelEvent[];
  /** Where its front end stands. */
  readonly revision: () => number;
  /** The event before one. */
  readonly before: (event: ModelEvent) => ModelEvent | undefined;
  readonly write: (bytes: Buffer) => void;
  readonly left: () => void;
}

export class Watcher {
  readonly body: ModelBody;
  readonly resource: ModelResource;
  /** Revision up to which events were sent. */
  sent: number;
  /** The end of the initial events has not been marked. */
  initial = false;
  readonly #context: WatcherContext;
  #over = false;

  constructor(context: WatcherContext) {
    this.#context = context;
    this.body = context.body;
    this.resource = context.resource;
    this.sent = context.sent;
  }

  /** Sends what is new. */
  catchUp(): void {
    for (const event of this.#context.events(this.sent)) {
      if (this.#over) return;
      this.sent = event.revision;
      if (!event.hidden) this.#send(event);
    }
  }

  bookmark(times: number): void {
    if (this.initial) return;
    this.catchUp();
    // As kube-apiserver: nothing that is behind what the watch began at; and nothing comes behind an event that did not.
    if (this.#over || this.#context.revision() < this.sent) return;
    for (let time = 0; time < times; time += 1) this.#write(this.bookmarkLine());
  }

  /** All that was there has been sent. */
  endInitial(): void {
    this.catchUp();
    if (this.#over) return;
    this.initial = false;
    this.#write(this.bookmarkLine({ annotations: { 'k8s.io/initial-events-end': 'true' } }));
  }

  /** No more is sent; the connection stays as it is. */
  leave(): void {
    this.#over = true;
    this.#context.left();
  }

  bookmarkLine(more: object = {}): string {
    const { resource, revision } = this.#context;
    const metadata = { resourceVersion: shown(resource, revision()), ...more };
    const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
    return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
  }

  #write(text: string): void {
    this.#context.write(Buffer.from(text));
  }

  #send(event: ModelEvent): void {
    const { body, faults, random } = this.#context;
    const line = lineOf(event);
    const strike = faults.pick(['F1', 'F2', 'F4', 'F7', 'F32', 'F33', 'F34', 'F35', 'F36', 'F37'], 5);
    if (strike !== null) faults.count(strike);
    switch (strike) {
      case 'F1': {
        const bytes = Buffer.from(line);
        this.#context.write(bytes.subarray(0, 1 + Math.floor(random() * (bytes.length - 2))));
        this.leave();
        if (random() < 0.5) body.reset();
        else body.end();
        return;
      }
      case 'F2':
        this.#write(line);
        this.leave();
        body.end();
        return;
      case 'F4':
        this.leave();
        return;
      case 'F7':
        this.#write(`${line}{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n`);
        this.leave();
        body.end();
        return;
      case 'F32':
        this.#write(`${line.slice(0, Math.floor(random() * (line.length - 2)))}\n${line}`);
        return;
      case 'F33':
        this.#write(
          [
            line.replace(/^\{"type":"\w+"/, '{"type":"RENAMED"'),
            line.replace(`"kind":"${event.resource.kind}"`, '"kind":"Table"'),
            `{"type":"${event.type}","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":500}}\n`,
          ][Math.floor(random() * 3)] ?? '',
        );
        return;
      case 'F34':
        this.#write(line.replace(random() < 0.5 ? /"uid":"[^"]*",/ : /"resourceVersion":"[^"]*",/, ''));
        return;
      case 'F35': {
        const before = this.#context.before(event);
        // Only versions with an order tell an old event from a new one.
        const again = before !== undefined && !before.hidden && !this.resource.opaque && !this.initial;
        this.#write(line + line + (again ? lineOf(before) : ''));
        return;
      }
      case 'F36':
        this.#write(event.type === 'ADDED' ? line.replace('"ADDED"', '"MODIFIED"') : line);
        return;
      case 'F37':
        this.#write(`${line.slice(0, -3)},"more":"${'x'.repeat(6000)}"}}\n`);
        return;
      default:
        this.#write(line);
    }
  }
}

function lineOf({ type, object }: ModelEvent): string {
  return `{"type":"${type}","object":${object.text}}\n`;
}
