import type { Connector } from '../../../../integrations/itsm/connectors/connector.ts';
import { RemoteError } from '../../../../integrations/itsm/remote.ts';
import { Killed } from './memory.port.ts';
import type { PersonAct, Trouble } from './steps.ts';

const writes = ['create', 'update', 'delete'] as const;
const reads = ['readByIds', 'findCreated', 'readSince'] as const;

/** The connector, and each transaction's beginning, with the troubles of a run at the calls that they name. */
export function troubled(
  remote: Connector,
  troubles: Trouble[],
  act: (act: PersonAct) => Promise<void>,
): { connector: Connector; hold: () => Promise<void> } {
  let calls = 0;
  let dead = false;
  /** @returns whether the process ends after the call. */
  const begin = async (mayAct: boolean): Promise<boolean> => {
    if (dead) throw new Killed();
    const at = calls;
    calls += 1;
    for (const trouble of troubles.splice(0)) {
      // between the look and the write nobody can come: the remote has no way to write on a condition
      const later = trouble.kind === 'meanwhile' && !mayAct && trouble.call === at;
      if (later) troubles.push({ ...trouble, call: at + 1 });
      else if (trouble.call !== at || trouble.kind === 'lost') troubles.push(trouble);
      else if (trouble.kind === 'meanwhile') await act(trouble.act);
      else {
        dead = true;
        if (!trouble.after) throw new Killed();
        return true;
      }
    }
    return false;
  };
  const wrapped = { ...remote } as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of [...writes, ...reads]) {
    const original = (remote as unknown as typeof wrapped)[name]!;
    const isWrite = (writes as readonly string[]).includes(name);
    wrapped[name] = async (...args) => {
      const lost = isWrite ? troubles.find((one) => one.kind === 'lost' && one.call === calls) : undefined;
      const ends = await begin(!isWrite);
      if (lost?.kind === 'lost') {
        troubles.splice(troubles.indexOf(lost), 1);
        if (lost.done) await original(...args);
        throw new RemoteError('answer_lost', 'the remote', 'The answer was lost');
      }
      const answer = await original(...args);
      if (ends) throw new Killed();
      return answer;
    };
  }
  return {
    connector: wrapped as unknown as Connector,
    hold: async () => {
      await begin(true);
    },
  };
}
