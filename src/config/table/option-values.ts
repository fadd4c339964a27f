/** The values that options may have: what each accepts, and what it says of others. Flags and variables are text. */
import { z } from 'zod';

/** Accepts a string of digits as a number, because flags and variables are strings. */
export const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  // The range is part of the schema, so that a JSON Schema made from it has the range too.
  const number = z.int().min(least, error).max(most, error);
  return z.union([number, z.string().regex(/^\d+$/).transform(Number).pipe(number)], { error });
};
/** Of --processes. */
export const mostProcesses = 64;
export const processes = z.union([z.literal('auto'), whole(1, mostProcesses)], {
  error: `must be auto or a whole number from 1 to ${mostProcesses}`,
});
/** Of --cells, as text: how many there are, or the cells of clusters that are named. */
const mostCells = 64;
const wantedCells = `must be a whole number from 1 to ${mostCells}, or clusters with their cells such as east=0,west=1`;
const isCells = (text: string): boolean => {
  const places = /^\d+$/.test(text)
    ? [Number(text) - 1]
    : text.split(',').map((entry) => Number(/^.+=(\d{1,2})$/.exec(entry)?.[1]));
  return places.every((place) => place >= 0 && place < mostCells);
};
export const cells = z
  .union([z.number(), z.string()], { error: wantedCells })
  .transform(String)
  .refine(isCells, { error: wantedCells });
export const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')], {
  error: 'must be true or false',
});
export const text = z.string({ error: 'must be text' }).min(1, 'must not be empty');
export const names = z.array(text);
const wantedNamespace = 'must be the name of a namespace';
export const namespaceName = z
  .string({ error: wantedNamespace })
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, wantedNamespace);
const wantedAccount = 'must be a namespace and a name, such as portolan/portolan';
export const serviceAccount = z
  .string({ error: wantedAccount })
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/, wantedAccount)
  .transform((given) => {
    const [namespace = '', name = ''] = given.split('/');
    return { namespace, name };
  });
const wantedService = 'must be the namespace and the name of a Service, such as portolan/portolan-sets';
export const serviceName = z
  .string({ error: wantedService })
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/, wantedService);
const wantedRole = 'must be a name of lower-case letters, digits and -, such as portolan';
export const roleName = z.string({ error: wantedRole }).regex(/^[a-z0-9]([-.a-z0-9]{0,200}[a-z0-9])?$/, wantedRole);
const wantedGroup = 'must be an API group with a dot, such as shadow.example.com';
export const apiGroup = z
  .string({ error: wantedGroup })
  .max(253, wantedGroup)
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/, wantedGroup);
const wantedVersion = 'must be a version of an API, such as v1 or v1alpha1';
export const apiVersion = z.string({ error: wantedVersion }).regex(/^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/, wantedVersion);
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const wantedDuration = 'must be a whole number with ms, s, m, h or d, such as 6h';
/** Timers count milliseconds in 31 bits. */
const longestMs = 24 * 86_400_000;
export const duration = z
  .string({ error: wantedDuration })
  .regex(/^\d+(ms|s|m|h|d)$/, wantedDuration)
  .transform((given) => Number.parseInt(given, 10) * (units[given.replace(/^\d+/, '')] ?? 1))
  .refine((milliseconds) => milliseconds <= longestMs, 'must be at most 24d');

/** Not so short that subscribers lose changes which they have not read yet. */
export const longDuration = duration.refine((milliseconds) => milliseconds >= 60_000, 'must be at least 1m');

const sizes: Readonly<Record<string, number>> = { M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const size = (leastMi: number) => {
  const wanted = `must be a whole number with Mi, Gi or Ti, such as 10Gi, and at least ${leastMi}Mi`;
  return z
    .string({ error: wanted })
    .regex(/^\d+[MGT]iB?$/, wanted)
    .transform((given) => Number.parseInt(given, 10) * (sizes[given.replace(/^\d+|iB?$/g, '')] ?? 1))
    .refine((bytes) => bytes >= leastMi * 2 ** 20, wanted);
};
export const diskSize = size(256);
export const logSize = size(16);

export const credentialKind = z.enum(['token', 'proxy', 'certificate', 'none'], {
  error: 'must be token, proxy, certificate or none',
});

const wantedPromotion = 'must be a resource and a path, such as pods=spec.schedulerName';
export const promotion = z.string({ error: wantedPromotion }).regex(/^\s*[^=\s]+\s*=\s*[^\s]/, wantedPromotion);

const wantedRedaction = 'must be a resource and a path, such as pods=spec.containers[].env';
export const redaction = z.string({ error: wantedRedaction }).regex(/^\s*[^=\s]+\s*=\s*[^\s]/, wantedRedaction);

const wantedPrefix = 'must begin with an upper-case letter, be letters and digits, and end with "_", such as K8s_';
export const typePrefix = z.string({ error: wantedPrefix }).regex(/^[A-Z][A-Za-z0-9]*_$/, wantedPrefix);

const wantedProfile = 'must be a name and kinds with spaces between them, such as team=pods deployments.apps';
export const profile = z.string({ error: wantedProfile }).regex(/^\s*[\w-]+\s*=\s*\S/, wantedProfile);

const wantedUrl = 'must be an http or https address, such as http://127.0.0.1:4000/graphql';
export const address = z.url({ protocol: /^https?$/, error: wantedUrl });

const wantedOrigin =
  'must be exact origins without a path, such as https://console.example.com or http://localhost:5173';
/** Written as browsers write it: in lower case, without the scheme's default port. */
export const origin = z
  .string({ error: wantedOrigin })
  .regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/?#@*\\]+$/, wantedOrigin)
  .refine((given) => !/^wss?:/i.test(given) && URL.canParse(given), wantedOrigin)
  .transform((given) => {
    const { origin: written, protocol, host } = new URL(given);
    // The URL standard defines no origin for the schemes of desktop clients, such as electron://altair.
    return written === 'null' ? `${protocol}//${host}` : written;
  });
