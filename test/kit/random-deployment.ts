/** Random Deployments, and random changes of them: what editors, deployers and controllers change. */
import type { Dice } from '../fuzz/dice.ts';

export type Json = Readonly<Record<string, unknown>>;

type Member = Record<string, unknown>;

const names = ['app', 'proxy', 'agent', 'init'];
const words = ['a', 'b', 'c'];

/** A Deployment without metadata of its own. */
export function randomDeployment(dice: Dice): Json {
  return {
    metadata: { labels: pairs(dice), annotations: pairs(dice) },
    spec: {
      replicas: dice.below(5),
      selector: { matchLabels: { app: 'random' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: dice.below(2) } },
      template: {
        metadata: { labels: { app: 'random', ...pairs(dice) } },
        spec: {
          containers: dice.sample(names, dice.between(1, 3)).map((name) => container(dice, name)),
          nodeSelector: pairs(dice),
          tolerations: Array.from({ length: dice.below(3) }, () => ({ key: dice.pick(words), operator: 'Exists' })),
          volumes: dice.sample(words, dice.below(3)).map((name) => ({ name, emptyDir: {} })),
        },
      },
    },
  };
}

/** The Deployment with one to four changes. */
export function mutated(dice: Dice, deployment: Json): Json {
  const copy = structuredClone(deployment) as {
    metadata: Record<string, Member>;
    spec: Member & { template: { spec: Member & { containers: Member[]; volumes: Member[]; tolerations: Member[] } } };
  };
  const pod = copy.spec.template.spec;
  const changes: readonly (() => void)[] = [
    () => turn(dice, copy.metadata['labels'] as Member),
    () => turn(dice, copy.metadata['annotations'] as Member),
    () => turn(dice, pod['nodeSelector'] as Member),
    () => Object.assign(copy.spec, { replicas: dice.below(9) }),
    () => Object.assign(copy.spec, { minReadySeconds: dice.below(5) }),
    () => Object.assign(dice.pick(pod.containers), { image: `registry.example/${dice.below(5)}` }),
    () =>
      turnElements(dice, dice.pick(pod.containers)['env'] as Member[], words, (name) => ({
        name,
        value: String(dice.below(5)),
      })),
    () => turnElements(dice, pod.volumes, words, (name) => ({ name, emptyDir: {} })),
    () => turnElements(dice, pod.containers, names, (name) => container(dice, name), 1),
    () => pod.tolerations.push({ key: dice.pick(words), operator: 'Exists', effect: 'NoSchedule' }),
  ];
  for (let count = dice.between(1, 4); count > 0; count -= 1) dice.pick(changes)();
  return copy as Json;
}

function container(dice: Dice, name: string): Member {
  return {
    name,
    image: `registry.example/${dice.below(3)}`,
    env: dice.sample(words, dice.below(3)).map((key) => ({ name: key, value: String(dice.below(5)) })),
  };
}

function pairs(dice: Dice): Member {
  return Object.fromEntries(dice.sample(words, dice.below(3)).map((key) => [key, String(dice.below(5))]));
}

/** Sets or removes a member. */
function turn(dice: Dice, map: Member): void {
  const key = dice.pick(words);
  if (dice.chance(0.3)) Reflect.deleteProperty(map, key);
  else map[key] = String(dice.below(5));
}

/** Adds, replaces or removes the element of a name. @param least elements that stay */
function turnElements(
  dice: Dice,
  list: Member[],
  all: readonly string[],
  make: (name: string) => Member,
  least = 0,
): void {
  const name = dice.pick(all);
  const index = list.findIndex((element) => element['name'] === name);
  if (index === -1) list.splice(dice.below(list.length + 1), 0, make(name));
  else if (list.length > least && dice.chance(0.5)) list.splice(index, 1);
  else list[index] = make(name);
}
