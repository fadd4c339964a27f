/**
 * The Pods of a gateway, kept by plain graphql-ws and the helpers that `portolan client-config` prints. Prints a line for each message.
 *
 *     node docs/examples/live.js
 */
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { foldChanges, hold, resumable } from './react/src/portolan.js';

const url = process.env['PORTOLAN_URL'] ?? 'http://127.0.0.1:4000/graphql';

// A browser has a WebSocket of its own: leave webSocketImpl out there.
const client = resumable(
  createClient({ url: url.replace(/^http/, 'ws'), webSocketImpl: WebSocket, retryAttempts: Number.POSITIVE_INFINITY }),
);

const query = `subscription ($since: String) {
  podChanges(since: $since) {
    phase
    reset
    cursor
    removedIds
    changes { type id object { id metadata { namespace name } status { phase } } }
  }
}`;

let held = hold();
client.subscribe(
  { query },
  {
    next({ data, errors }) {
      if (errors !== undefined) throw new Error(errors[0].message);
      const { phase, changes } = data.podChanges;
      held = foldChanges(held, data.podChanges);
      process.stdout.write(`${phase}: ${changes.length} changes, ${held.objects.length} Pods\n`);
    },
    error(error) {
      // GraphQL errors, a lost connection (an event with its cause), or a close by the gateway.
      const reason = Array.isArray(error) ? error[0].message : (error.error?.message ?? error.reason ?? error.message);
      process.stderr.write(`${reason || `no gateway answers at ${url}`}\n`);
      process.exitCode = 1;
    },
    complete() {},
  },
);
