/** The caBundle of the APIService: the authorities by which kube-apiserver knows the aggregated API server, and whether they are valid. */
import type { X509Certificate } from 'node:crypto';
import { record, text } from '../../base/json.ts';
import { anyCertificatesIn } from '../../server/negotiation/client-authorities.ts';
import type { ExaminedCluster } from './examined-cluster.ts';
import { commandOf, type Finding, notSeen, ok, problem, warning } from './finding.ts';

/** Of an APIService with insecureSkipTLSVerify. */
export const isUnchecked = 'kube-apiserver does not check the certificate.';

const dayMs = 86_400_000;
/** Days before the end in which a certificate that is renewed by hand should be. */
const soonDays = 14;

export async function checkAuthority(cluster: ExaminedCluster): Promise<readonly Finding[]> {
  const spec = record((await cluster.apiService())?.['spec']);
  if (spec === undefined) return [notSeen('There is no APIService with a caBundle.')];
  if (spec['insecureSkipTLSVerify'] === true) return [notSeen(isUnchecked)];
  const command = newBundle(cluster.apiServiceName);
  const bundle = bundleIn(spec);
  if (bundle === '') {
    const why = 'so kube-apiserver trusts only the authorities of its machine.';
    return [problem(`The APIService has no caBundle, ${why} Give it the authority, from the file ca.crt:`, command)];
  }
  let authorities: readonly X509Certificate[];
  try {
    authorities = anyCertificatesIn(bundle);
  } catch {
    return [
      problem('The caBundle of the APIService has no certificates in PEM. Correct it, from the file ca.crt:', command),
    ];
  }
  const found = authorities.flatMap((each) => {
    const of = `The authority ${each.subject.replaceAll('\n', ', ')} in the caBundle of the APIService`;
    return validity(of, each, cluster.options.now(), command) ?? [];
  });
  if (found.length > 0) return found;
  const count = authorities.length === 1 ? 'an authority that is' : `${authorities.length} authorities that are`;
  return [ok(`The caBundle of the APIService has ${count} valid.`)];
}

/** PEM; empty without one. */
export function bundleIn(spec: Readonly<Record<string, unknown>>): string {
  return Buffer.from(text(spec['caBundle']) ?? '', 'base64').toString('utf8');
}

/** Puts the authority in the file ca.crt into the APIService. */
export function newBundle(apiService: string): string | null {
  return commandOf`kubectl patch apiservice ${apiService} --type=merge -p '{"spec":{"caBundle":"'"$(base64 < ca.crt | tr -d '\\n')"'"}}'`;
}

/** Null for one that is valid for a while. @param of what it is; begins a sentence */
export function validity(
  of: string,
  certificate: X509Certificate,
  now: number,
  command: string | null,
): Finding | null {
  const { validFromDate: from, validToDate: to } = certificate;
  if (to.getTime() <= now) return problem(`${of} ended on ${dayOf(to)}.`, command);
  if (from.getTime() > now) {
    return problem(
      `${of} is valid from ${from.toISOString()} on, and it is ${new Date(now).toISOString()} here: one of the clocks is wrong, or the certificate.`,
      command,
    );
  }
  const days = Math.floor((to.getTime() - now) / dayMs);
  return days > soonDays ? null : warning(`${of} ends in ${days} days, on ${dayOf(to)}.`, command);
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}
