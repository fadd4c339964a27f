import { expect, test } from 'vitest';
import { searchRank } from '../../../test/kit/evaluate-order.ts';
import { searchPaths, searchTerms, searchText, trigrams } from './search-text.ts';

test('name, labels, namespace, images and configured paths make the text, folded', () => {
  const body = {
    metadata: { name: 'Web-1', namespace: 'Shop', labels: { app: 'Web', tier: 5 } },
    spec: {
      containers: [{ image: 'nginx:1.25' }, { image: 3 }, {}],
      template: { spec: { initContainers: [{ image: 'busybox' }] } },
      rules: [{ host: 'Example.com' }, { host: 'b.org' }],
    },
  };
  expect(searchText(body, searchPaths(['spec.rules[].host']))).toBe(
    'web-1\napp=web\nshop\nnginx:1.25\n3\nbusybox\nexample.com\nb.org',
  );
  expect(searchText({}, searchPaths([]))).toBe('');
});

test('terms are folded words, each once', () => {
  expect(searchTerms('  Web\tapp=x web ')).toEqual(['web', 'app=x']);
  expect(searchTerms(' ')).toEqual([]);
});

test('the rank tells how well a name answers', () => {
  expect(['web', 'web-1', 'my-web', 'x'].map((name) => searchRank(name, ['web']))).toEqual([0, 1, 2, 3]);
  expect(searchRank('web-1', ['web', 'nginx'])).toBe(4);
});

test('trigrams go by characters, not by UTF-16 units', () => {
  expect(trigrams('ab')).toEqual([]);
  expect(trigrams('a😀bc')).toEqual(['a😀b', '😀bc']);
  expect(trigrams('aaaa')).toEqual(['aaa']);
});
