import { setTimeout as delay } from 'node:timers/promises';
import { between, pick, type Random } from '../bench/landscape/random.ts';
import type { Child } from '../support/child.ts';
import { freePort, type Place, untilReady } from '../support/processes.ts';
import type { History } from './world.ts';

interface Role {
  name: string;
  entry: 'api' | 'worker';
  child: Child | undefined;
  /** When it can be asked to end in order: before, a signal ends it at once. */
  ready: Promise<unknown>;
}

/** One API and two workers on one data folder. */
export interface Crew {
  url: string;
  kills: number;
  /** Kills one of them at a random moment, or ends it in order, and starts it again; until it is stopped. */
  trouble(random: Random, stop: AbortSignal): Promise<void>;
  /** Ends all in order. @throws Error naming those that did not end as they should. */
  end(): Promise<void>;
}

const CALM_MS: [number, number] = [2_000, 9_000];
const DOWN_MS: [number, number] = [0, 2_500];

export async function startCrew(place: Place, history: History): Promise<Crew> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const roles = ['api', 'worker 1', 'worker 2'].map(
    (name): Role => ({
      name,
      entry: name === 'api' ? 'api' : 'worker',
      child: undefined,
      ready: Promise.resolve(),
    }),
  );
  const start = (role: Role) => {
    const worker = role.entry === 'worker';
    const child = place.start(role.entry, { PORT: String(port), LOG_LEVEL: worker ? 'info' : 'warn' });
    role.child = child;
    // one that ends before is reported by its end
    role.ready = (worker ? child.until(/the worker is ready/) : untilReady(child, url)).catch(
      () => undefined,
    );
    void child.ended().then(({ code, output }) => {
      // one that is ended on purpose was taken out of its role before
      if (role.child === child)
        history.fault(`${role.name} ended by itself with ${code}:\n${output.slice(-2_000)}`);
    });
  };
  const end = async (role: Role, signal: NodeJS.Signals): Promise<number | null> => {
    const child = role.child!;
    if (signal === 'SIGTERM') await role.ready;
    role.child = undefined;
    child.kill(signal);
    return (await child.ended()).code;
  };
  for (const role of roles) start(role);
  await untilReady(roles[0]!.child!, url);

  const crew: Crew = {
    url,
    kills: 0,
    async trouble(random, stop) {
      while (!stop.aborted) {
        await delay(between(random, ...CALM_MS), undefined, { signal: stop }).catch(() => undefined);
        if (stop.aborted) return;
        const role = pick(random, roles);
        const signal = random() < 0.75 ? 'SIGKILL' : 'SIGTERM';
        history.note({ who: role.name, what: signal });
        const code = await end(role, signal);
        if (signal === 'SIGTERM' && code !== 0)
          history.fault(`${role.name} ended with ${code} when asked to`);
        crew.kills += 1;
        await delay(between(random, ...DOWN_MS));
        start(role);
        history.note({ who: role.name, what: 'started' });
      }
    },
    async end() {
      for (const role of roles.toReversed()) {
        if (!role.child) continue;
        const code = await end(role, 'SIGTERM');
        if (code !== 0) history.fault(`${role.name} ended with ${code} when asked to`);
      }
    },
  };
  return crew;
}
