/** The Pods, the documents and the orders that bench/fanout.ts shares with its gateway and its writer. */

/** The Pods of a document: those of one namespace. podName of support/pods.ts has fifty. */
export const documents = 10;

/** A subscription to the Pods of one namespace. */
export const namespaceDocument = `subscription Watch($namespace: String) {
  podChanges(snapshot: false, filter: { metadata: { namespace: { eq: $namespace } } }) {
    phase cursor totalCount removedIds
    changes { type id at object { metadata { name namespace resourceVersion labels } spec { nodeName } status { phase podIP qosClass startTime } } }
  }
}`;

/** A subscription to one Pod. */
export const nameDocument = `subscription Watch($name: String) {
  podChanges(snapshot: false, filter: { metadata: { name: { eq: $name } } }) {
    phase cursor changes { type object { metadata { name resourceVersion } status { phase } } }
  }
}`;

/** A subscription that begins with all Pods. */
export const snapshotDocument = `subscription Mirror {
  podChanges { phase cursor totalCount changes { type id object { metadata { name namespace } spec { nodeName } status { phase } } } }
}`;

/** A page that stays true. */
export const liveDocument = `query Page($labels: String, $first: Int) @live {
  pods(filter: { labelSelector: $labels }, first: $first) {
    totalCount nodes { metadata { name resourceVersion } status { phase } }
  }
}`;

/** Different pages: of the Pods of one app (podName of support/pods.ts has 400). */
export function pageAt(index: number): { readonly labels: string; readonly first: number } {
  return { labels: `app=app-${index % 400}`, first: 20 + Math.floor(index / 400) };
}

/** How often the trivial query was asked, and the 99th percentile of its milliseconds. */
export interface Asked {
  readonly queries: number;
  readonly p99: number;
}

/** The query that is sent during the snapshots. */
export const trivialQuery = '{ pods(first: 1) { nodes { metadata { name } } } }';

/** The namespace of document `index`. */
export function namespaceAt(index: number): string {
  return `team-${index % documents}`;
}

/** To the writer: changes of Pods at a rate. `of`: the number of documents whose Pods change; every Pod changes at most once. */
export type WriterOrder =
  | { readonly changes: number; readonly perSecond: number; readonly of: number }
  /** Declares one more kind, so that the catalog changes. */
  | 'declare'
  | 'close';

/** To the gateway. */
export type GatewayOrder =
  /** Counts processor time and memory from now on. */
  | { readonly ask: 'begin' }
  | { readonly ask: 'end' }
  /** Sends these bytes to bare connections, as often and at the same rate as the gateway sent. */
  | {
      readonly ask: 'bare';
      readonly bytes: number;
      readonly rounds: number;
      readonly perSecond: number;
      readonly each: number;
    }
  | { readonly ask: 'write'; readonly order: Exclude<WriterOrder, 'close' | 'declare'> }
  /** Publishes a new generation of the schema. */
  | { readonly ask: 'swap' }
  | { readonly ask: 'memory' };

export type GatewayAnswer =
  | { readonly url: string; readonly bareUrl: string }
  | Counted
  | { readonly written: number }
  | { readonly heapBytes: number };

/** Of the serve thread, between two orders. */
export interface Counted {
  readonly cpuMs: number;
  /** Processor time of the readers' threads. */
  readonly readersMs: number;
  readonly elapsedMs: number;
  /** The longest time in which the event loop did nothing else. */
  readonly longestMs: number;
}
