/** Resident anonymous memory of this process, and its peak: what the kernel could not take back by dropping cached files. */
import { readFileSync } from 'node:fs';

/** MB (10^6 bytes). */
export function residentAnonymousMb(): number {
  const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (line === null) throw new Error('this benchmark needs the RssAnon of /proc/self/status: run it on Linux');
  return (Number(line[1]) * 1024) / 1e6;
}

/** Looks at it every `everyMs` until the returned function is called, which gives the largest value seen. */
export function watchResident(everyMs: number): () => number {
  let peak = residentAnonymousMb();
  const look = (): void => {
    peak = Math.max(peak, residentAnonymousMb());
  };
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return peak;
  };
}
