/** The newest Pods in pages, as far as the user scrolls. Rows change and disappear live; new Pods are counted until the user asks for them. */
import { useQuery, useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';
import { cache } from './gateway';
import { graphql } from './gql';
import { applyChanges } from './portolan.js';

const listPods = graphql(`
  query ListPods($first: Int!, $after: String) {
    pods(first: $first, after: $after, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]) {
      changesCursor
      nodes {
        ...PodRow
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }

  fragment PodRow on Pod {
    id
    metadata {
      namespace
      name
    }
    spec {
      nodeName
    }
    status {
      phase
    }
  }
`);

const watchPods = graphql(`
  subscription WatchPods($since: String) {
    podChanges(since: $since) {
      phase
      reset
      cursor
      removedIds
      changes {
        type
        id
        reason
        object {
          ...PodRow
        }
      }
    }
  }
`);

const first = 50;

export function Pods() {
  const { data, error, loading, fetchMore, refetch } = useQuery(listPods, {
    variables: { first },
    notifyOnNetworkStatusChange: true,
    // Otherwise reading page one again would drop the pages after it.
    refetchWritePolicy: 'merge',
  });
  const [added, setAdded] = useState(0);
  const pods = data?.pods;

  // Begins where the list was read, so no change is missed and no snapshot is sent.
  useSubscription(watchPods, {
    variables: { since: pods?.changesCursor ?? null },
    skip: pods == null,
    ignoreResults: true,
    onData({ data: { data: message } }) {
      if (message === undefined) return;
      // Apollo writes changed objects into its cache by itself; this takes out the objects that are gone.
      applyChanges(cache, message.podChanges);
      const { phase, changes } = message.podChanges;
      if (phase === 'LIVE') setAdded((count) => count + changes.filter(({ type }) => type === 'ADDED').length);
    },
  });

  const end = useRef<HTMLDivElement>(null);
  const after = pods?.pageInfo.hasNextPage === true && !loading ? pods.pageInfo.endCursor : null;
  useEffect(() => {
    if (end.current === null || after == null) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) void fetchMore({ variables: { after } });
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [after, fetchMore]);

  const readAgain = async () => {
    setAdded(0);
    await refetch();
  };

  return (
    <section aria-label="Pods">
      <h1>Pods</h1>
      {error !== undefined && <p role="alert">{error.message}</p>}
      {added > 0 && (
        <button type="button" onClick={readAgain}>
          {added} new
        </button>
      )}
      <table>
        <tbody>
          {pods?.nodes.map(({ id, metadata, spec, status }) => (
            <tr key={id}>
              <td>{metadata.namespace}</td>
              <td>{metadata.name}</td>
              <td>{spec?.nodeName}</td>
              <td>{status?.phase}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div ref={end}>{loading ? 'Loading …' : ''}</div>
    </section>
  );
}
