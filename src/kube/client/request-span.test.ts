import { expect, test } from 'vitest';
import { pathTemplate } from './request-span.ts';

test.each([
  ['/api/v1/namespaces/shop/secrets/db?pretty=1', '/api/v1/namespaces/{namespace}/secrets/{name}'],
  ['/api/v1/namespaces/shop/pods/web-0/log?tailLines=5', '/api/v1/namespaces/{namespace}/pods/{name}/log'],
  ['/api/v1/namespaces/shop/pods', '/api/v1/namespaces/{namespace}/pods'],
  ['/api/v1/namespaces/shop', '/api/v1/namespaces/{name}'],
  ['/api/v1/namespaces/shop/finalize', '/api/v1/namespaces/{name}/finalize'],
  ['/api/v1/namespaces?limit=500', '/api/v1/namespaces'],
  ['/api/v1/nodes/node-1/status', '/api/v1/nodes/{name}/status'],
  ['/apis/apps/v1/namespaces/shop/deployments/web', '/apis/apps/v1/namespaces/{namespace}/deployments/{name}'],
  ['/apis/shop.example.com/v1/carts/jane', '/apis/shop.example.com/v1/carts/{name}'],
  ['/apis/authentication.k8s.io/v1/tokenreviews', '/apis/authentication.k8s.io/v1/tokenreviews'],
  ['/apis', '/apis'],
  ['/openapi/v3/apis/apps/v1?hash=x', '/openapi/v3/apis/apps/v1'],
])('%s', (path, template) => {
  expect(pathTemplate(path)).toBe(template);
});
