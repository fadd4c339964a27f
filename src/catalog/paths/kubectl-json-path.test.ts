import { expect, test } from 'vitest';
import { parseExact } from '../values/values.ts';
import { jsonPathReader, printedText } from './kubectl-json-path.ts';

const body = parseExact(`{
  "metadata": {
    "name": "a",
    "labels": {
      "app.kubernetes.io/name": "web",
      "plain": "p"
    },
    "annotations": {
      "a.b/c": "note"
    },
    "creationTimestamp": "2026-01-31T12:00:00Z"
  },
  "spec": {
    "str": "text",
    "int": 7,
    "neg": -3,
    "float": 1.5,
    "small": 0.00001,
    "big": 9007199254740993,
    "greater": 12345678901234567000,
    "million": 1234567.5,
    "less": 123456.5,
    "tenth": 0.0001,
    "nothing": null,
    "nothings": [null, 1],
    "yes": true,
    "no": false,
    "list": [
      "p",
      "q",
      "r"
    ],
    "nums": [
      1,
      2,
      3
    ],
    "empty": [],
    "obj": {
      "only": "one"
    },
    "nested": {
      "deep": {
        "str": "inner"
      }
    },
    "a": {
      "b": "dotted"
    },
    "map": {
      "b": "<x>&",
      "a": [
        1,
        2.5
      ]
    },
    "items": [
      {
        "name": "n1",
        "w": 1,
        "on": true,
        "f": 1.5
      },
      {
        "name": "n2",
        "w": 2,
        "on": false,
        "f": 2.5
      },
      {
        "name": "n3",
        "w": 3,
        "on": true,
        "tags": [
          "t1",
          "t2"
        ],
        "f": 3.5
      }
    ]
  },
  "status": {
    "conditions": [
      {
        "type": "Ready",
        "status": "True"
      },
      {
        "type": "Synced",
        "status": "False"
      }
    ]
  }
}`);

/** JSONPaths of columns of the type string, and the cells that the API server 1.37 has for the object above; null for an empty cell. */
const cells: readonly (readonly [jsonPath: string, cell: string | null])[] = [
  ['.metadata.name', 'a'],
  ['.metadata.labels.plain', 'p'],
  [".metadata.labels['app\\.kubernetes\\.io/name']", 'web'],
  [".metadata.labels['app.kubernetes.io/name']", null],
  ['.metadata.labels.app\\.kubernetes\\.io/name', 'web'],
  [".metadata.annotations['a\\.b/c']", 'note'],
  [".spec['str']", 'text'],
  [".spec['a.b']", 'dotted'],
  ['.spec.str', 'text'],
  ['.spec.int', '7'],
  ['.spec.neg', '-3'],
  ['.spec.float', '1.5'],
  ['.spec.small', '1e-05'],
  ['.spec.big', '9007199254740993'],
  ['.spec.greater', '1.2345678901234567e+19'],
  ['.spec.million', '1.2345675e+06'],
  ['.spec.less', '123456.5'],
  ['.spec.tenth', '0.0001'],
  ['.spec.nothing', '<no value>'],
  ['.spec.nothings[0]', '<no value>'],
  ['.spec.nothings', '[null,1]'],
  ['.spec.nothing.below', null],
  ['.spec.items[?(@.w[0])].name', 'n1'],
  ['.spec.items[?(@.tags[5])].name', 'n3'],
  ['.spec.items[?(@.missing[5])].name', null],
  ['.spec.items[?(@.w>99999999999999999999)].name', null],
  ['.spec.items..*', null],
  ['.spec.yes', 'true'],
  ['.spec.no', 'false'],
  ['.spec.missing', null],
  ['.spec.missing.below', null],
  ['.spec.str.below', null],
  ['.spec.list', '["p","q","r"]'],
  ['.spec.list[*]', 'p'],
  ['.spec.list[0]', 'p'],
  ['.spec.list[2]', 'r'],
  ['.spec.list[3]', null],
  ['.spec.list[-1]', 'r'],
  ['.spec.list[-1:]', 'r'],
  ['.spec.list[-4]', null],
  ['.spec.list[1:]', 'q'],
  ['.spec.list[1:2]', 'q'],
  ['.spec.list[:2]', 'p'],
  ['.spec.list[0:3:2]', 'p'],
  ['.spec.list[1:3:1]', 'q'],
  ['.spec.list[2:1]', null],
  ['.spec.list[0,2]', 'p'],
  ['.spec.list[-1,0]', 'r'],
  ['.spec.empty', '[]'],
  ['.spec.empty[*]', null],
  ['.spec.empty[0]', null],
  ['.spec.empty[-1:]', null],
  ['.spec.nums[1]', '2'],
  ['.spec.obj', '{"only":"one"}'],
  ['.spec.obj.*', 'one'],
  ['.spec.obj.only', 'one'],
  ['.spec.nested.deep', '{"str":"inner"}'],
  ['.spec.map', '{"a":[1,2.5],"b":"\\u003cx\\u003e\\u0026"}'],
  ['.spec.str[0]', null],
  ['.spec.items[*].name', 'n1'],
  ['.spec.items[-1:].name', 'n3'],
  ['.spec.items[-1].tags[*]', 't1'],
  ['.spec.items[0].w', '1'],
  ['.spec.items[?(@.w>1)].name', 'n2'],
  ['.spec.items[?(@.w>=3)].name', 'n3'],
  ['.spec.items[?(@.w<2)].name', 'n1'],
  ['.spec.items[?(@.w==2)].name', 'n2'],
  ['.spec.items[?(@.w!=1)].name', 'n2'],
  ['.spec.items[?(@.f>2.0)].name', 'n2'],
  ['.spec.items[?(@.w>1.5)].name', null],
  ['.spec.items[?(@.on==true)].name', 'n1'],
  ['.spec.items[?(@.on==false)].name', 'n2'],
  ['.spec.items[?(@.tags)].name', 'n3'],
  ['.spec.items[?(@.name=="n2")].w', '2'],
  [".spec.items[?(@.name=='n3')].w", '3'],
  ['.spec.items[?(@.name!="n1")].name', 'n2'],
  ['.spec.items[?(@.name>"n1")].name', 'n2'],
  ['.spec.items[?(@.name==2)].name', null],
  ['.spec.items[?(@.nope=="x")].name', null],
  ['.spec.items[?(@.on>true)].name', null],
  ['.spec.obj[?(@.only=="one")]', null],
  ['.status.conditions[?(@.type=="Ready")].status', 'True'],
  ['.status.conditions[?(@.type=="Synced")].status', 'False'],
  ['.status.conditions[-1:].type', 'Synced'],
  ['.status.conditions[*].type', 'Ready'],
  ['..only', 'one'],
  ['..deep.str', 'inner'],
  ['..conditions[0].type', 'Ready'],
  ['.spec..str', 'text'],
  ['.spec.items..tags', '["t1","t2"]'],
  ['$.spec.str', 'text'],
  ['spec.str', null],
  ['.spec["str"]', null],
  ['.spec.list[', null],
  ['.spec.list[x]', null],
  ['....a', null],
  ['.spec.items[?(@.w>1]', null],
];

test.each(cells)('C1, C2: %s has the cell of the API server', (jsonPath, cell) => {
  const [value] = jsonPathReader(jsonPath)?.(body) ?? [];
  expect(value === undefined ? null : printedText(value)).toBe(cell);
});

const texts = parseExact(`{ "items": [
  { "n": "a'b", "id": 9007199254740993 }, { "n": "x\\ty", "id": 9007199254740992 }, { "n": "é", "id": 3 }
] }`);

test.each([
  ["'a\\'b'", '9007199254740993'],
  ['"a\'b"', '9007199254740993'],
  ['"\\x78\\ty"', '9007199254740992'],
  ['"\\170\\u0009y"', '9007199254740992'],
  ['"\\xc3\\xa9"', '3'],
])('the text %s of a filter is read as Go reads it', (text, id) => {
  const [value] = jsonPathReader(`.items[?(@.n==${text})].id`)?.(texts) ?? [];
  expect(value === undefined ? null : printedText(value)).toBe(id);
});

test.each(["'\\q'", "'a\\\"b'", '"\\x7"', '"\\ud800"', '"\\400"'])('the text %s of a filter is none of Go', (text) => {
  expect(jsonPathReader(`.items[?(@.n==${text})].id`)).toBeNull();
});

test('integers beyond 2^53 are compared exactly', () => {
  const found = (condition: string) => jsonPathReader(`.items[?(@.id${condition})].n`)?.(texts);
  expect(found('==9007199254740993')).toEqual(["a'b"]);
  expect(found('!=9007199254740993')).toEqual(['x\ty', 'é']);
  expect(found('<9007199254740993')).toEqual(['x\ty', 'é']);
});

test('a path that looks at too many values has none', () => {
  const wide = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`k${i}`, { a: { a: { a: i } } }]));
  expect(jsonPathReader('..a..a')?.({ a: wide })).not.toEqual([]);
  const wider = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, { a: i }]));
  expect(jsonPathReader('..a')?.(wider)).toEqual([]);
});

test('a value that nests too deep is an error', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 2000; level += 1) deep = [deep];
  expect(jsonPathReader('.plain')?.({ plain: 1, deep })).toEqual([1]);
  expect(() => jsonPathReader('..plain')?.({ plain: 1, deep })).toThrow(/nests deeper/);
  expect(() => printedText(deep)).toThrow(/nests deeper/);
});
