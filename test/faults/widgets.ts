/** A kind that tests define themselves. */

export const widgets = 'widgets.shop.example.com';

export function widgetCrd(scope: 'Namespaced' | 'Cluster', version: string, field: string): Record<string, unknown> {
  const spec = { type: 'object', properties: { [field]: { type: 'integer' } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: widgets },
    spec: {
      group: 'shop.example.com',
      scope,
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

export function widget(
  name: string,
  version = 'v1',
  metadata: object = { namespace: 'default' },
): Record<string, unknown> {
  return {
    apiVersion: `shop.example.com/${version}`,
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: { size: 1 },
  };
}
