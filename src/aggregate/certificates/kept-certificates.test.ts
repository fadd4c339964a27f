/** The rule of renewal over time, with clients and replicas that learn of changes late. */
import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type KeptCertificates, keptIn, noCertificates, renewed, secretData } from './kept-certificates.ts';

const name = 'sets.portolan.svc';
const start = Date.UTC(2026, 0, 1);
const minute = 60_000;
const day = 86_400_000;

/** Does a client with these authorities trust the server now? */
function trusts(authorities: readonly string[], { server }: KeptCertificates, now: number): boolean {
  if (server === null) return false;
  const certificate = new X509Certificate(server.cert);
  const isTimely = ({ validFromDate, validToDate }: X509Certificate): boolean =>
    validFromDate.getTime() <= now && now < validToDate.getTime();
  return (
    isTimely(certificate) &&
    certificate.checkHost(name) !== undefined &&
    authorities.some((pem) => {
      const authority = new X509Certificate(pem);
      return isTimely(authority) && certificate.verify(authority.publicKey);
    })
  );
}

function first(now = start): KeptCertificates {
  return renewed(noCertificates, { name, now, published: false });
}

describe('renewal', () => {
  test('both are made from nothing, and stay until two thirds of their life', () => {
    const made = first();
    expect(made.authorities.length).toBe(1);
    expect(trusts(made.authorities, made, start)).toBe(true);
    for (const days of [0, 1, 59]) {
      expect(renewed(made, { name, now: start + days * day, published: true })).toBe(made);
    }
    const later = renewed(made, { name, now: start + 60 * day, published: true });
    expect(later.authorities).toEqual(made.authorities);
    expect(later.authorityKey).toBe(made.authorityKey);
    expect(later.server).not.toEqual(made.server);
  });

  test('an authority is added, used after ten minutes, and the former one goes after ten more', () => {
    let kept = first();
    for (let days = 10; days < 243; days += 10)
      kept = renewed(kept, { name, now: start + days * day, published: true });
    const at = start + 244 * day;
    const added = renewed(kept, { name, now: at, published: true });
    expect(added.authorities.slice(1)).toEqual(kept.authorities);
    expect(added.server).toEqual(kept.server);
    expect(renewed(added, { name, now: at + 9 * minute, published: true })).toBe(added);
    // Clients that were not told do not trust it.
    expect(renewed(added, { name, now: at + 11 * minute, published: false })).toBe(added);
    const used = renewed(added, { name, now: at + 11 * minute, published: true });
    expect(used.authorities).toEqual(added.authorities);
    expect(trusts([added.authorities[0] ?? ''], used, at + 11 * minute)).toBe(true);
    expect(renewed(used, { name, now: at + 20 * minute, published: true })).toBe(used);
    const settled = renewed(used, { name, now: at + 22 * minute, published: true });
    expect(settled).toEqual({ ...used, authorities: [added.authorities[0]] });
  });

  test('without the key of the newest authority, another one is added and the server stays', () => {
    const made = first();
    const again = renewed({ ...made, authorityKey: null }, { name, now: start + day, published: true });
    expect(again.authorities[1]).toBe(made.authorities[0]);
    expect(again.server).toEqual(made.server);
  });

  test('what is of no use is made at once: another name, an end, a clock far ahead, another authority', () => {
    const made = first();
    const other = first();
    const cases: readonly [KeptCertificates, string, number][] = [
      [made, 'sets.other.svc', start],
      [made, name, start + 91 * day],
      [made, name, start + 400 * day],
      [made, name, start - 10 * day],
      [{ ...made, server: other.server }, name, start],
      [{ ...made, authorityKey: other.authorityKey, server: null }, name, start],
      [{ ...made, authorities: [] }, name, start],
    ];
    for (const [kept, wanted, now] of cases) {
      const { server, authorities, authorityKey } = renewed(kept, { name: wanted, now, published: true });
      expect(server).not.toEqual(kept.server);
      const certificate = new X509Certificate(server?.cert ?? '');
      expect(certificate.checkHost(wanted)).toBe(wanted);
      expect(certificate.verify(new X509Certificate(authorities[0] ?? '').publicKey)).toBe(true);
      expect(authorityKey).not.toBeNull();
    }
  });

  test('at every time, clients and replicas that are ten minutes late trust each other', () => {
    const steps = fc.array(
      fc.record({
        // A renewal takes four steps at most: the look before it is due, an authority for its age, one for a lost key, the certificate.
        // They must fit into the third of a life that remains after two thirds: 30 days.
        ms: fc.oneof(fc.integer({ min: 10 * minute, max: 12 * minute }), fc.integer({ min: day, max: 7 * day })),
        loses: fc.constantFrom('nothing', 'nothing', 'nothing', 'nothing', 'key'),
      }),
      { minLength: 60, maxLength: 120 },
    );
    fc.assert(
      fc.property(steps, (taken) => {
        let now = start;
        let kept = first();
        let lost = false;
        for (const { ms, loses } of taken) {
          const former = kept;
          now += ms;
          // A Secret that loses its key before each look has no key that could sign.
          lost = loses === 'key' && !lost;
          kept = renewed(lost ? { ...kept, authorityKey: null } : kept, { name, now, published: true });
          for (const authorities of [former.authorities, kept.authorities]) {
            for (const served of [former, kept]) expect(trusts(authorities, served, now)).toBe(true);
          }
          expect(kept.authorities.length).toBeLessThan(taken.length);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('the Secret', () => {
  test('has everything', () => {
    const made = first();
    expect(keptIn(secretData(made))).toEqual({ kept: made, problems: [] });
  });

  test('parts that cannot be read are named without their text', () => {
    const made = first();
    const data = secretData(made);
    const broken = (text: string): string => Buffer.from(text).toString('base64');
    const cases: readonly [Record<string, string>, readonly string[]][] = [
      [{}, ['ca.crt cannot be read', 'ca.key cannot be read', 'tls.crt with tls.key cannot be read']],
      [{ ...data, 'ca.key': broken('hidden') }, ['ca.key cannot be read']],
      [{ ...data, 'ca.crt': broken('hidden') }, ['ca.crt cannot be read']],
      // A certificate that may sign no others is no authority.
      [{ ...data, 'ca.crt': data['tls.crt'] ?? '' }, ['ca.crt cannot be read']],
      [{ ...data, 'tls.key': data['ca.key'] ?? '' }, ['tls.crt with tls.key cannot be read']],
      [{ ...data, 'tls.crt': 'no base64 §' }, ['tls.crt with tls.key cannot be read']],
    ];
    for (const [given, problems] of cases) {
      const found = keptIn(given);
      expect(found.problems).toEqual(problems);
      const again = renewed(found.kept, { name, now: start, published: false });
      expect(trusts(again.authorities, again, start)).toBe(true);
    }
  });
});
