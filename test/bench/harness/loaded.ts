import type { BenchArgs } from './args.ts';
import { connect } from './database.ts';
import { loadDirect } from './load-direct.ts';
import { type Service, startService } from './service.ts';
import { prepareWorkspace } from './workspace.ts';

/** Memory is compared with that of so many cards. */
const SMALL = 20_000;

/** The cards with whose memory that of all is compared: a fifth of them. */
export const smallOf = ({ cards }: BenchArgs): number => Math.min(SMALL, Math.floor(cards / 5));

/** Starts a service of its own with so many cards and as many relations; it is stopped with the resources. */
export async function startLoaded(
  resources: AsyncDisposableStack,
  args: BenchArgs,
  cards: number,
  owner?: 'all' | 'api',
): Promise<Service> {
  const service = resources.adopt(await startService({}, owner), (started) => started.stop());
  const client = resources.adopt(await connect(service.databaseUrl), (connection) => connection.end());
  await prepareWorkspace(client);
  await loadDirect(service.databaseUrl, { ...args, cards, relations: cards });
  return service;
}
