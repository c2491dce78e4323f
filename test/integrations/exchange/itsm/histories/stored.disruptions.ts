import type { Connector } from '../../../../../integrations/exchange/itsm/connectors/connector.ts';
import { RemoteError } from '../../../../../integrations/exchange/itsm/remote.ts';
import { Killed } from './memory.port.ts';
import type { Disruption, UserAction } from './steps.ts';

const writes = ['create', 'update', 'delete'] as const;
const reads = ['readByIds', 'findCreated', 'readSince'] as const;

/** The connector and the lock of each transaction, with the disruptions of a run. */
export function withDisruptions(
  remote: Connector,
  disruptions: Disruption[],
  act: (act: UserAction) => Promise<void>,
): { connector: Connector; lock: () => Promise<void> } {
  let calls = 0;
  let dead = false;
  /** @returns whether the process ends after the call. */
  const begin = async (mayAct: boolean): Promise<boolean> => {
    if (dead) throw new Killed();
    const at = calls;
    calls += 1;
    for (const disruption of disruptions.splice(0)) {
      // no action between a read and a write, since the remote has no conditional writes
      const later = disruption.kind === 'meanwhile' && !mayAct && disruption.call === at;
      if (later) disruptions.push({ ...disruption, call: at + 1 });
      else if (disruption.call !== at || disruption.kind === 'lost') disruptions.push(disruption);
      else if (disruption.kind === 'meanwhile') await act(disruption.act);
      else {
        dead = true;
        if (!disruption.after) throw new Killed();
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
      const lost = isWrite ? disruptions.find((one) => one.kind === 'lost' && one.call === calls) : undefined;
      const ends = await begin(!isWrite);
      if (lost?.kind === 'lost') {
        disruptions.splice(disruptions.indexOf(lost), 1);
        if (lost.done) await original(...args);
        throw new RemoteError('response_lost', 'the remote', 'The response was lost');
      }
      const response = await original(...args);
      if (ends) throw new Killed();
      return response;
    };
  }
  return { connector: wrapped as unknown as Connector, lock: async () => void (await begin(true)) };
}
