import { mix, mulberry32, type Random } from '../bench/landscape/random.ts';
import type { RemoteAnswer, Send } from '../support/processes.ts';
import { insist } from './caller.ts';
import type { History, Outcome, World } from './world.ts';

/** What an act of a writer works with. */
export interface Hand {
  random: Random;
  world: World;
  /** A text that no other write has. */
  token(): string;
  /** Sends a write that contains the token, and records its outcome. @returns the response if it was accepted. */
  write(method: string, path: string, body?: unknown, token?: string): Promise<RemoteAnswer | undefined>;
  send: Send;
}

export interface Act {
  name: string;
  /** How often it is chosen, against the others. */
  weight: number;
  run(hand: Hand): Promise<unknown>;
}

const isUnexpected = (status: number) => status >= 500 || status === 401 || status === 403 || status === 400;

function outcomeOf(answer: RemoteAnswer | undefined): Outcome {
  if (!answer) return 'lost';
  return answer.status < 300 ? 'accepted' : 'refused';
}

/** One writer, whose choices follow from the seed alone; what it finds depends on all writers. */
export function createWriter(options: {
  number: number;
  seed: number;
  acts: Act[];
  world: World;
  history: History;
  send: Send;
}): { step(): Promise<void> } {
  const { number, acts, world, history, send } = options;
  const random = mulberry32(mix(options.seed, number));
  let tokens = 0;
  const total = acts.reduce((sum, { weight }) => sum + weight, 0);
  let act: Act = acts[0]!;
  const hand: Hand = {
    random,
    world,
    send,
    token() {
      tokens += 1;
      return `w${number}n${tokens}`;
    },
    async write(method, path, body, token) {
      const answer = await insist(send, method, path, body);
      const position = answer?.headers.get('x-position');
      const outcome = outcomeOf(answer);
      history.note({
        who: `writer ${number}`,
        what: act.name,
        outcome,
        status: answer?.status,
        position: position == null ? undefined : Number(position),
        detail: [method, path, token ?? ''].join(' ').trim(),
      });
      if (token !== undefined) world.tokens.set(token, outcome);
      if (answer && isUnexpected(answer.status))
        history.fault(`${method} ${path} answered ${answer.status}: ${String(answer.bytes).slice(0, 300)}`);
      return outcome === 'accepted' ? answer : undefined;
    },
  };
  return {
    async step() {
      let at = random() * total;
      act = acts.find(({ weight }) => {
        at -= weight;
        return at < 0;
      })!;
      await act.run(hand);
    },
  };
}
