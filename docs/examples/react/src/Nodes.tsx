/** All Nodes, kept by folding the messages of one subscription: a snapshot first, then every change. */
import { useSubscription } from '@apollo/client/react';
import { useState } from 'react';
import { graphql } from './gql';
import type { WatchNodesSubscription } from './gql/graphql';
import { foldChanges, hold } from './portolan.js';

const watchNodes = graphql(`
  subscription WatchNodes($since: String) {
    nodeChanges(since: $since) {
      phase
      reset
      cursor
      removedIds
      changes {
        type
        id
        object {
          id
          metadata {
            name
            labels
          }
        }
      }
    }
  }
`);

type NodeRow = NonNullable<WatchNodesSubscription['nodeChanges']['changes'][number]['object']>;

export function Nodes() {
  const [held, setHeld] = useState(() => hold<NodeRow>());
  const { error } = useSubscription(watchNodes, {
    ignoreResults: true,
    onData({ data: { data } }) {
      if (data !== undefined) setHeld((before) => foldChanges(before, data.nodeChanges));
    },
  });
  return (
    <section aria-label="Nodes">
      <h1>Nodes</h1>
      {error !== undefined && <p role="alert">{error.message}</p>}
      <ul aria-busy={!held.whole}>
        {held.objects.map(({ id, metadata }) => (
          <li key={id}>
            {metadata.name} {metadata.labels?.['zone']}
          </li>
        ))}
      </ul>
    </section>
  );
}
