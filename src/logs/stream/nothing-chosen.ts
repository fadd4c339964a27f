/**
 * The notices of a choice of nothing. Without them, a subscriber could not tell it from logs without lines.
 */
import type { LogNotice } from './log-message.ts';

/** @param containers of which no chosen Pod has one */
export function nothingChosen(pods: number, containers: ReadonlySet<string>): readonly LogNotice[] {
  const place = { cluster: '', namespace: '', pod: '', type: 'NOTHING', code: null, count: null } as const;
  if (pods === 0) {
    const message = 'No Pod is chosen: nothing that you may see matches, or what matches owns no Pod.';
    return [{ ...place, container: '', message }];
  }
  return [...containers].map((container) => {
    const message = `No chosen Pod has a container ${JSON.stringify(container)}.`;
    return { ...place, container, message };
  });
}
