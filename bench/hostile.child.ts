/**
 * The attackers of bench/hostile.ts, on a processor of their own.
 *
 *   order { attack, target } -> message { count } -> ... -> disconnect
 */
import { attacks, type Target } from './hostile.attacks.ts';

export interface AttackOrder {
  readonly attack: string;
  readonly target: Target;
}

process.on('message', async ({ attack, target }: AttackOrder) => {
  const count = await attacks[attack]?.(target);
  process.send?.({ count });
});
process.once('disconnect', () => process.exit(0));
process.send?.({ ready: true });
