import type { Random } from '../bench/landscape/random.ts';
import type { Answer, Content, Send } from './caller.ts';
import type { World } from './world.ts';

/** What an act of a writer works with. */
export interface Hand {
  random: Random;
  world: World;
  /** A text that no other write carries. */
  token(): string;
  /** Sends a write that carries the token, and notes what became of it. Answers only what was accepted. */
  write(method: string, path: string, content?: Content, token?: string): Promise<Answer | undefined>;
  send: Send;
}

export interface Act {
  name: string;
  /** How often it is chosen, against the others. */
  weight: number;
  run(hand: Hand): Promise<unknown>;
}
