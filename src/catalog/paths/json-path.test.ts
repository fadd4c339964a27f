import { describe, expect, test } from 'vitest';
import { fromJsonPath } from './json-path.ts';

describe('fromJsonPath', () => {
  test.each<[string, string | null]>([
    ['.spec.replicas', 'spec.replicas'],
    ['{.spec.replicas}', 'spec.replicas'],
    ['$.spec.replicas', 'spec.replicas'],
    ['.status.conditions[?(@.type=="Ready")].status', 'status.conditions[type=Ready].status'],
    [".status.conditions[?(@.type=='Ready')].status", 'status.conditions[type=Ready].status'],
    ['.status.conditions[?( @.type == "A B" )].status', 'status.conditions[type="A B"].status'],
    ['.spec.list[?(@.port==80)].name', 'spec.list[port=80].name'],
    ['.spec.list[?(@.on==true)].name', 'spec.list[on=true].name'],
    [".spec.list[?(@['odd.name']=='x')].name", 'spec.list["odd.name"=x].name'],
    ['.spec.names[*].x', 'spec.names[].x'],
    ['.spec.names.*', 'spec.names[]'],
    ['.spec.names[0]', 'spec.names[0]'],
    ['.metadata.annotations.crossplane\\.io/external-name', 'metadata.annotations["crossplane.io/external-name"]'],
    [".metadata.annotations['a.b/c']", 'metadata.annotations["a.b/c"]'],
    [".metadata.labels['app\\.kubernetes\\.io/name']", 'metadata.labels["app.kubernetes.io/name"]'],
    ['.metadata.annotations["a.b/c"]', 'metadata.annotations["a.b/c"]'],
    ['.a[?(@.x=="y]")]', 'a[x="y]"]'],
    ['..name', null],
    ['.a[-1]', null],
    ['.a[0:2]', null],
    ['.a[?(@.x!="y")]', null],
    ['.a[?(@.x.y=="z")]', null],
    ['.a[?(@.x)]', null],
    ['.a[', null],
    ['a.b', null],
    ['', null],
    ['.', null],
  ])('%s', (jsonPath, expected) => {
    expect(fromJsonPath(jsonPath)).toBe(expected);
  });
});
