import { expect, test } from 'vitest';
import { loadConfig } from '../../config/load-config.ts';
import { aggregateCertificates } from './aggregate-certificates.ts';

const of = (flags: Readonly<Record<string, string>>) => aggregateCertificates(loadConfig({ flags, environment: {} }));

const files = { aggregateCert: 'door.crt', aggregateKey: 'door.key' };
const service = { aggregateService: 'portolan/sets' };
const door = { aggregate: 'true', auth: 'token' };

test('the certificate is from files, or made for a Service', () => {
  expect(of({})).toBeNull();
  expect(of({ ...door, ...files })).toMatchObject({
    cert: expect.stringContaining('door.crt'),
    key: expect.stringContaining('door.key'),
  });
  expect(of({ ...door, ...service })).toEqual({ service: { namespace: 'portolan', name: 'sets' } });
});

test('each option that is missing, or one too many, is named', () => {
  expect(() => of(service)).toThrow('--aggregate-service needs --aggregate');
  expect(() => of({ aggregateKey: 'door.key' })).toThrow('--aggregate-key needs --aggregate');
  expect(() => of({ aggregate: 'true', ...service })).toThrow('--aggregate needs --auth');
  expect(() => of(door)).toThrow('give --aggregate-service, or both');
  expect(() => of({ ...door, aggregateCert: 'door.crt' })).toThrow('give --aggregate-service, or both');
  expect(() => of({ ...door, ...files, ...service })).toThrow('leave out one of the two');
  for (const aggregateService of ['sets', 'portolan/', 'portolan/Sets', 'a/b/c', '../x']) {
    expect(() => of({ ...door, aggregateService })).toThrow('the namespace and the name of a Service');
  }
});
