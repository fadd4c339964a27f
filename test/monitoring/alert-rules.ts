/** The alerts of deploy/chart/files/alerts.yaml. */
import { parse } from 'yaml';
import { z } from 'zod';
import { readPage } from '../kit/written-page.ts';

const rule = z.strictObject({
  alert: z.string().regex(/^Portolan[A-Z]\w+$/),
  expr: z.string(),
  for: z
    .string()
    .regex(/^\d+[mh]$/)
    .optional(),
  labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.url() }),
});
const file = z.strictObject({
  groups: z.array(z.strictObject({ name: z.string(), rules: z.array(rule).min(1) })).min(1),
});

export type AlertRule = z.output<typeof rule>;

export const alertsPath = 'deploy/chart/files/alerts.yaml';

/** @throws when the file has another shape than Prometheus reads. */
export function readAlerts(): readonly AlertRule[] {
  return file.parse(parse(readPage(alertsPath))).groups.flatMap(({ rules }) => rules);
}
