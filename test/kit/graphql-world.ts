/** The kinds that the tests of src/graphql query. */
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { describedCrd } from './engine-fixture.ts';

export const widgets = 'widgets.example.com';
export const gadgets = 'gadgets.example.com';

const condition = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    status: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64' },
  },
};

export const widgetProperties = {
  spec: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      replicas: { type: 'integer', format: 'int32' },
      total: { type: 'integer', format: 'int64' },
      ratio: { type: 'number' },
      paused: { type: 'boolean' },
      at: { type: 'string', format: 'date-time' },
      port: { 'x-kubernetes-int-or-string': true },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      tags: { type: 'array', items: { type: 'string' } },
      numbers: { type: 'array', items: { type: 'integer' } },
      ports: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            number: { type: 'integer', format: 'int32' },
            id: { type: 'string' },
          },
        },
      },
      template: {
        type: 'object',
        properties: { image: { type: 'string' }, 'pull-policy': { type: 'string' }, id: { type: 'integer' } },
      },
      settings: { type: 'object', additionalProperties: { type: 'string' } },
    },
  },
  status: {
    type: 'object',
    properties: { phase: { type: 'string' }, conditions: { type: 'array', items: condition } },
  },
};

/** A namespaced kind with a leaf of every type. */
export function widget(
  cluster = 'east',
  properties: Readonly<Record<string, unknown>> = widgetProperties,
): DescribedResource {
  return describedCrd({
    cluster,
    kind: 'Widget',
    plural: 'widgets',
    properties,
    columns: [
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Ports', type: 'string', jsonPath: '.spec.ports[*].number', priority: 1 },
    ],
  });
}

/** A cluster-scoped kind that shares some paths with widgets. */
export function gadget(cluster = 'east'): DescribedResource {
  return describedCrd({
    cluster,
    kind: 'Gadget',
    plural: 'gadgets',
    namespaced: false,
    properties: {
      spec: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          replicas: { type: 'string' },
          total: { type: 'integer', format: 'int64' },
        },
      },
    },
  });
}
